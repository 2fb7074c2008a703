// The endpoints, listed from the service's own OpenAPI document.

const make = (tag, text, ...children) => {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
};

function table(rows) {
  const head = make("tr", "", make("th", "parameter"), make("th", "in"), make("th", "example"));
  const lines = rows.map((row) => make("tr", "", make("td", "", make("code", row.name)), make("td", row.required ? `${row.in}, required` : row.in), make("td", row.example === undefined ? "" : String(row.example))));
  return make("table", "", head, ...lines);
}

const { info, paths } = await (await fetch("/openapi.json")).json();
document.title = document.getElementById("title").textContent = info.title;
document.getElementById("about").textContent = info.description;
for (const [path, methods] of Object.entries(paths)) {
  for (const [method, what] of Object.entries(methods)) {
    const body = make("div");
    if (what.parameters?.length) body.append(table(what.parameters));
    const schema = what.requestBody?.content?.["application/json"]?.schema;
    if (schema) body.append(make("p", "JSON body:"), make("pre", JSON.stringify(schema, null, 2)));
    const answers = Object.entries(what.responses).map(([status, { description }]) => `${status}: ${description}`);
    body.append(make("p", answers.join("; ")));
    body.lastChild.className = "quiet";
    const line = make("summary", "", make("b", method.toUpperCase()), make("code", path), document.createTextNode(` ${what.summary}`));
    document.getElementById("list").append(make("details", "", line, body));
  }
}
document.documentElement.dataset.ready = "true";
