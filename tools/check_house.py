#!/usr/bin/python3
"""What the source and the pages promise of themselves; the tests run it.

    tools/check_house.py             every check
    tools/check_house.py --update    takes from tools/house_exceptions.txt what is mended, and lowers what has become less

- A module includes only modules above it in the table of docs/architecture.md, and every folder of src/tarn/ has its row there.
- No file in src/ has more than 600 lines, no function more than 80; tables aside.
- No passage of more than 8 lines of code stands twice, under other names or the same.
- Links, and paths in code spans, lead somewhere, in every page.
- The step is beside its paper: every function that docs/architecture.md names there exists where it says, and each that the step calls
  stands there.

What breaks a rule today is listed in tools/house_exceptions.txt with how far it does. The list only shrinks: what is worse than listed
fails, and so does what is listed and no longer true.
"""

import argparse
import collections
import pathlib
import re
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXCEPTIONS = ROOT / "tools/house_exceptions.txt"
FILE_LINES, FUNCTION_LINES, PASSAGE_LINES = 600, 80, 8
# Rows of a table, not text that someone reads from top to bottom.
TABLES = {"src/tarn/params/tables.cpp"}
KEYWORDS = set("""alignas auto bool break case char class const constexpr continue default delete do double else enum explicit
    false float for if inline int long namespace new noexcept nullptr operator private public return short signed sizeof static
    std struct switch template this true typename union unsigned using virtual void while""".split())
# The renderer knows surfaces, not solvers.
NEVER = {"render": {"advect", "pressure", "phases", "step"}}


def sources(*folders):
    return sorted(p for folder in folders or ("src",) for suffix in ("h", "cpp", "cu", "inc") for p in (ROOT / folder).rglob(f"*.{suffix}"))


def pages():
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "validation").rglob("*.md"), *(ROOT / "bench").rglob("*.md")])


def name_of(path):
    return str(path.relative_to(ROOT))


def code_only(text):
    """The text with comments and the insides of strings blanked, line for line."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)

    def blank(found):
        word = found.group(0)
        inside = re.sub(r"[^\n]", " ", word[1:-1])
        return f'"{inside}"' if word[0] in "\"R" else f"'{inside}'" if word[0] == "'" else re.sub(r"[^\n]", " ", word)

    # Digits may be separated by apostrophes, which are no characters then.
    return pattern.sub(blank, re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "_", text))


def modules():
    """In their order, from the table of docs/architecture.md."""
    return re.findall(r"^\| `(\w+)/` \|", (ROOT / "docs/architecture.md").read_text(), re.M)


def check_includes():
    order = modules()
    for folder in sorted(p.name for p in (ROOT / "src/tarn").iterdir() if p.is_dir()):
        if folder not in order:
            yield f"module {folder}", 1, f"src/tarn/{folder}/ has no row in the table of docs/architecture.md"
    for path in sources():
        module = path.relative_to(ROOT / "src/tarn").parts[0]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'\s*#\s*include "tarn/(\w+)/', line)
            if not found or module not in order or found.group(1) not in order:
                continue
            other = found.group(1)
            if order.index(other) > order.index(module) or other in NEVER.get(module, ()):
                why = "it must not" if other in NEVER.get(module, ()) else f"{other}/ stands below {module}/"
                yield f"include {name_of(path)} {other}", 1, f"{name_of(path)}:{number}: includes {other}/, but {why}"


def check_file_lengths():
    for path in sources():
        lines = len(path.read_text().splitlines())
        if lines > FILE_LINES and name_of(path) not in TABLES:
            yield f"file {name_of(path)}", lines, f"{name_of(path)} has {lines} lines; {FILE_LINES} at most"


def functions(code):
    """(name, first line, lines) of every function that has a body. Braces are followed; what stands before one, back to the statement's
    start, tells namespaces, types and functions apart."""
    stack, start = [], 0
    depth = 0  # of parentheses
    line_at = [0]
    for found in re.finditer("\n", code):
        line_at.append(found.end())
    number = lambda at: next_line(line_at, at)
    for i, c in enumerate(code):
        if c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
        elif c == "{":
            before = re.sub(r"^\s*#.*$", "", code[start:i], flags=re.M).strip()
            inner = stack[-1][0] if stack else "namespace"
            kind = "other"
            if depth == 0 and inner in ("namespace", "type"):
                if re.search(r"\bnamespace\b", before) or before.startswith("extern"):
                    kind = "namespace"
                elif re.search(r"\b(class|struct|union|enum)\b", before) and not re.search(r"\)\s*(const|noexcept|override|->.*)?\s*$", before):
                    kind = "type"
                elif "(" in before and not re.search(r"=\s*$", before):
                    kind = "function"
            # A member initialiser is followed by the body.
            if kind == "function" and re.search(r"[:,]\s*[\w<>:]+\s*$", before) and re.search(r"\)\s*:", before):
                kind = "other"
                stack.append((kind, start, i, depth, True))
            else:
                stack.append((kind, start, i, depth, False))
            start = i + 1 if not stack[-1][4] else start
            depth = 0
        elif c == "}" and stack:
            kind, begin, opened, depth, initialiser = stack.pop()
            if kind == "function":
                head = code[begin:opened]
                name = re.findall(r"([\w~]+|operator\S+)\s*\(", head)
                first = number(begin + len(head) - len(head.lstrip()))
                yield (name[0] if name else "?"), first, number(i) - first + 1
            start = i + 1 if not initialiser else start
        elif c == ";" and depth == 0:
            start = i + 1


def next_line(line_at, at):
    low, high = 0, len(line_at)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if line_at[middle] <= at else (low, middle)
    return low + 1


def check_functions():
    for path in sources("src", "app"):
        if name_of(path) in TABLES:
            continue
        for name, first, lines in functions(code_only(path.read_text())):
            if lines > FUNCTION_LINES:
                yield f"function {name_of(path)} {name}", lines, \
                    f"{name_of(path)}:{first}: {name} has {lines} lines; {FUNCTION_LINES} at most"


def passages():
    """(file, line number, text) of every line of code that says something, spaces and names aside."""
    for path in sources():
        if name_of(path) in TABLES:
            continue
        instantiation = False
        for number, stripped in enumerate(code_only(path.read_text()).splitlines(), 1):
            if instantiation or re.match(r"template\s+(?!<)", stripped):  # an explicit instantiation, to its semicolon
                instantiation = ";" not in stripped
                continue
            if not re.search(r"\w", stripped) or re.match(r"\s*(#|using |namespace |public:|private:)", stripped):
                continue
            # A copy in which things were renamed is a copy.
            same = re.sub(r"[A-Za-z_]\w*", lambda word: word.group(0) if word.group(0) in KEYWORDS else "name", stripped)
            yield name_of(path), number, re.sub(r"\s+", " ", same).strip()


def check_passages():
    lines = list(passages())
    size = PASSAGE_LINES + 1
    places = collections.defaultdict(list)
    for i in range(len(lines) - size + 1):
        window = [text for _, _, text in lines[i:i + size]]
        cases = sum(text.startswith("case ") for text in window)  # a table, written as a switch
        if lines[i][0] == lines[i + size - 1][0] and cases <= 2:
            places["\n".join(window)].append(i)
    twice = collections.defaultdict(set)  # of two files: the lines of the first that stand in the second, too
    for at in places.values():
        for a in at:
            for b in at:
                if a < b and not (lines[a][0] == lines[b][0] and b - a < size):
                    twice[lines[a][0], lines[b][0]].update((a + i, b + i) for i in range(size))
    for (a, b), pairs in sorted(twice.items()):
        count = len({i for i, _ in pairs})
        first, second = min(pairs)
        yield f"twice {a} {b}", count, \
            f"{a}:{lines[first][1]} and {b}:{lines[second][1]}: {count} lines of code stand in both; {PASSAGE_LINES} at most"


def anchors(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        yield re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def check_pages():
    for page in pages():
        text = page.read_text()
        for number, line in enumerate(text.splitlines(), 1):
            for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                there = (page.parent / urllib.parse.unquote(path)) if path else page
                if not there.exists():
                    yield f"link {name_of(page)} {target}", 1, f"{name_of(page)}:{number}: leads to {target}, which is not there"
                elif anchor and there.suffix == ".md" and anchor not in set(anchors(there)):
                    yield f"link {name_of(page)} {target}", 1, f"{name_of(page)}:{number}: {path or 'this page'} has no heading #{anchor}"
            for span in re.findall(r"`((?:src|scenes|tests|tools|docs|validation|bench|app)/[\w./-]+)`", line):
                if not (ROOT / span).exists():
                    yield f"path {name_of(page)} {span}", 1, f"{name_of(page)}:{number}: `{span}` is not there"


# Where the step on its paper's side is, and which of its functions are read line by line.
STEP_FILES = ("step/free_surface.cpp", "step/surface.cpp")
STEP_FUNCTIONS = {"step", "move_water", "move_surface", "carry_surface", "change_velocity", "advect_velocity", "add_forces", "project_velocity",
                  "extrapolate_velocity"}
# What they call that is no part of any method.
PLUMBING = {"if", "for", "step", "stage", "boundary_of", "select", "sides_of", "thin_walls_of", "frame_forces", "tiles_to_advect", "has_particles",
            "constant", "fastest_face", "isfinite", "advect", "project", "predict_bodies", "touch", "self_advect", "self_advect_cip",
            "follow_velocity", "obey_flows", "is_cip"}


def check_reader_table():
    page = (ROOT / "docs/architecture.md").read_text()
    part = page.partition("## The step, beside its paper")[2].partition("\n## ")[0]
    texts = {file: (ROOT / "src/tarn" / file).read_text() for file in STEP_FILES}
    named = set()
    for row in re.findall(r"^\|.*$", part, re.M):
        cells = re.split(r"(?<!\\)\|", row)
        done_by = cells[3] if len(cells) == 6 else cells[1]
        # `f`, `g` in `file`: both are there; what a semicolon parts is apart.
        for names, file in re.findall(r"((?:`\w+`(?:, )?)+)(?: in `([\w/.]+)`)?", done_by):
            for name in re.findall(r"`(\w+)`", names):
                named.add(name)
                where = [file] if file else STEP_FILES
                if not any(re.search(rf"\b{name}\b", texts.setdefault(f, (ROOT / "src/tarn" / f).read_text())) for f in where):
                    yield f"reader {name}", 1, f"docs/architecture.md: `{name}` is not in {' or '.join(where)}"
    for file in STEP_FILES:
        code = code_only(texts[file])
        lines = code.splitlines()
        for name, first, count in functions(code):
            if name not in STEP_FUNCTIONS:
                continue
            body = "\n".join(lines[first - 1:first - 1 + count]).partition("{")[2]
            for called in sorted(set(re.findall(r"\b([a-z]\w*)\(", body)) - named - PLUMBING):
                yield f"reader {file} {called}", 1, \
                    f"src/tarn/{file}:{first}: {name} calls {called}, which docs/architecture.md does not put beside its paper"


def read_exceptions():
    listed = {}
    if EXCEPTIONS.exists():
        for line in EXCEPTIONS.read_text().splitlines():
            if line and not line.startswith("#"):
                key, _, count = line.rpartition(" ")
                listed[key] = int(count)
    return listed


def write_exceptions(listed):
    head = "# What breaks a rule of tools/check_house.py, and by how much. Lines only go; tools/check_house.py --update takes them out.\n"
    EXCEPTIONS.write_text(head + "".join(f"{key} {count}\n" for key, count in sorted(listed.items())))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="shorten the list of exceptions")
    parser.add_argument("--all", action="store_true", help="show what is excepted, too")
    given = parser.parse_args()
    checks = {"includes": check_includes, "file lengths": check_file_lengths, "function lengths": check_functions,
              "passages": check_passages, "pages": check_pages, "reader's table": check_reader_table}
    listed, found, complaints = read_exceptions(), {}, []
    for name, check in checks.items():
        bad = 0
        for key, count, text in check():
            worse = count > found.get(key, 0)
            found[key] = max(count, found.get(key, 0))
            if count > listed.get(key, 0):
                complaints.append(text + (f" ({listed[key]} excepted)" if key in listed else ""))
                bad += 1
            elif given.all and worse:
                print(f"excepted: {text}")
        print(f"check_house: {name}: {'FAIL' if bad else 'PASS'}")
    if given.update:
        write_exceptions({key: min(count, found[key]) for key, count in listed.items() if key in found})
    else:
        for key, count in listed.items():
            if found.get(key, 0) < count:
                complaints.append(f"tools/house_exceptions.txt: {key} {count}: now {found.get(key, 0)}; tools/check_house.py --update")
    for text in complaints:
        print(f"check_house: {text}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
