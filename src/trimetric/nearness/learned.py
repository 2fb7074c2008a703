from dataclasses import dataclass
@dataclass
class LearnedSettings: pass
def solve_learned(*a): raise NotImplementedError
