"""`trimetric --completion SHELL`: scripts that complete commands, options and their values.

The scripts are made once and contain everything, so that a press of the Tab key starts no Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from trimetric.cli.option_table import Option, command_class, option_table

GLOBAL = ("--help", "--version", "--completion")


def completion_script(shell: str, commands: Mapping[str, str]) -> str:
    """Make the script of a shell.

    Args:
        shell: a key of `SHELLS`.
        commands: the name and the summary of each command.

    Returns:
        The script.

    Examples:
        >>> print(completion_script("bash", {"info": "show what is in a model file"}).splitlines()[0])
        # Completion of trimetric for bash
    """
    tables = {name: option_table(command_class(name)) for name in commands}
    return SHELLS[shell](commands, tables)


Tables = Mapping[str, list[Option]]


def _first_words(commands: Mapping[str, str]) -> dict[str, str]:
    """Return the words that may come first; a group such as `values` is one of them."""
    return {name.partition(" ")[0]: text if " " not in name else _group(name) for name, text in commands.items()}


def _group(name: str) -> str:
    return f"commands about {name.partition(' ')[0]}"


def _groups(commands: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the second words of each group, with their summaries."""
    found: dict[str, dict[str, str]] = {}
    for name, text in commands.items():
        first, _, second = name.partition(" ")
        if second:
            found.setdefault(first, {})[second] = text
    return found


def _bash(commands: Mapping[str, str], tables: Tables) -> str:
    groups = _groups(commands)
    seconds = "\n".join(
        f'    {first}) [[ $COMP_CWORD == 2 ]] && {{ COMPREPLY=($(compgen -W "{" ".join(words)} --help" -- "$cur")); '
        f'return; }}; name="{first} ${{COMP_WORDS[2]}}" ;;'
        for first, words in groups.items()
    )
    values, flags = [], []
    for name, options in tables.items():
        for option in options:
            for word in option.words:
                if option.takes != "nothing":
                    values.append(f'    "{name} {word}") {_bash_value(option)}; return ;;')
        flags.append(f'    "{name}") words="{" ".join(word for option in options for word in option.words)}" ;;')
    newline = "\n"
    return f"""# Completion of trimetric for bash
_trimetric() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" name="${{COMP_WORDS[1]}}" words=""
  if [[ $cur == = ]]; then cur=""; elif [[ $prev == = ]]; then prev="${{COMP_WORDS[COMP_CWORD-2]}}"; fi
  if [[ $COMP_CWORD == 1 ]]; then
    COMPREPLY=($(compgen -W "{" ".join([*_first_words(commands), "help", *GLOBAL])}" -- "$cur"))
    return
  fi
  case "$name" in
    --completion) COMPREPLY=($(compgen -W "{" ".join(SHELLS)}" -- "$cur")); return ;;
    help) COMPREPLY=($(compgen -W "{" ".join(_first_words(commands))}" -- "$cur")); return ;;
{seconds}
  esac
  case "$name $prev" in
{newline.join(values)}
  esac
  case "$name" in
{newline.join(flags)}
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  else
    compopt -o filenames 2>/dev/null
    local IFS=$'\\n'
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}}
complete -F _trimetric trimetric"""


def _bash_value(option: Option) -> str:
    if option.takes == "choice":
        return f'COMPREPLY=($(compgen -W "{" ".join(option.choices)}" -- "$cur"))'
    if option.takes == "file":
        return "compopt -o filenames 2>/dev/null; local IFS=$'\\n'; COMPREPLY=($(compgen -f -- \"$cur\"))"
    return "COMPREPLY=()"


def _zsh(commands: Mapping[str, str], tables: Tables) -> str:
    groups = _groups(commands)
    firsts = {**_first_words(commands), "help": "show the help of a command"}
    cases = "\n".join(_zsh_command(name, options) for name, options in tables.items())
    seconds = "\n".join(
        f"""    {first})
      if (( CURRENT == 3 )); then
        commands=({_zsh_described(words)}); _describe command commands; return
      fi
      name="{first} $words[3]"; shift words; (( CURRENT-- )) ;;"""
        for first, words in groups.items()
    )
    return f"""#compdef trimetric
# Completion of trimetric for zsh
_trimetric() {{
  local -a commands
  local name="$words[2]"
  if (( CURRENT == 2 )); then
    commands=({_zsh_described(firsts)})
    [[ $words[2] == -* ]] && compadd -- {" ".join(GLOBAL)} || _describe command commands
    return
  fi
  case "$name" in
    --completion) compadd -- {" ".join(SHELLS)}; return ;;
    help) commands=({_zsh_described(_first_words(commands))}); _describe command commands; return ;;
{seconds}
  esac
  shift words; (( CURRENT-- ))
  case "$name" in
{cases}
  esac
}}
if [[ $funcstack[1] == _trimetric ]]; then _trimetric "$@"; else compdef _trimetric trimetric; fi"""


def _zsh_described(words: Mapping[str, str]) -> str:
    return " ".join(f"'{word}:{_quoted(text)}'" for word, text in words.items())


def _zsh_command(name: str, options: list[Option]) -> str:
    lines = []
    for option in options:
        about = _quoted(option.about).replace("[", "(").replace("]", ")").replace(":", " -")
        action = {"file": "_files", "choice": f"({' '.join(option.choices)})"}.get(option.takes, " ")
        value = "" if option.takes == "nothing" else f":value:{action}"
        lines += [f"'*{word}[{about}]{value}'" for word in option.words]
    return f'    "{name}") _arguments {" ".join(lines)} "*:file:_files" ;;'


def _fish(commands: Mapping[str, str], tables: Tables) -> str:
    lines = ["# Completion of trimetric for fish", "complete -c trimetric -e"]
    add = partial("complete -c trimetric {} -n '{}'".format)
    firsts = {**_first_words(commands), "help": "show the help of a command"}
    lines += [f"{add('-f', '__fish_use_subcommand')} -a {word} -d '{_quoted(text)}'" for word, text in firsts.items()]
    lines += [f"{add('-f', '__fish_use_subcommand')} -l {word[2:]}" for word in ("--help", "--version")]
    lines += [f"{add('-x', '__fish_use_subcommand')} -l completion -a '{' '.join(SHELLS)}'"]
    lines += [f"{add('-f', '__fish_seen_subcommand_from help')} -a '{' '.join(_first_words(commands))}'"]
    for first, words in _groups(commands).items():
        where = f"__fish_seen_subcommand_from {first}; and not __fish_seen_subcommand_from {' '.join(words)}"
        lines += [f"{add('-f', where)} -a {word} -d '{_quoted(text)}'" for word, text in words.items()]
    alone = " ".join(_groups(commands))
    for name, options in tables.items():
        first, _, second = name.partition(" ")
        rest = f"and __fish_seen_subcommand_from {second}" if second else f"and not __fish_seen_subcommand_from {alone}"
        where = f"__fish_seen_subcommand_from {first}; {rest}"
        for option in options:
            if option.words:
                lines.append(f"{add(_fish_value(option), where)} {_fish_words(option)} -d '{_quoted(option.about)}'")
    return "\n".join(lines)


def _fish_words(option: Option) -> str:
    return " ".join(f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}" for word in option.words)


def _fish_value(option: Option) -> str:
    values = {"nothing": "", "file": "-r -F", "text": "-x", "choice": f"-x -a '{' '.join(option.choices)}'"}
    return values[option.takes]


def _quoted(text: str) -> str:
    """Return a text for single quotes of any of the shells."""
    return text.replace("\\", "").replace("'", "")


SHELLS: dict[str, Callable[[Mapping[str, str], Tables], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
"""the function that makes the script of each shell"""
