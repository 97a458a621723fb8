"""Build the documentation site, or look at it.

    python docs/site                     # writes build/site; warnings are errors
    python docs/site serve               # builds, then http://localhost:8000

The sources are the pages of this repository as they are; ``pip install '.[docs]'`` installs what it needs.
"""

import argparse
import functools
import shutil
import subprocess
import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from reference import write_reference
from stage import stage

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"


def build(quick: bool) -> int:
    """Write the site to build/site; return the exit code of Sphinx."""
    source, site = BUILD / "site-source", BUILD / "site"
    if not quick:
        shutil.rmtree(site, ignore_errors=True)
    shutil.rmtree(source, ignore_errors=True)
    stage(ROOT, source)
    write_reference(source)
    words = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q"]
    words += ["-c", str(Path(__file__).parent), str(source), str(site)]
    return subprocess.run(words, cwd=ROOT, check=False).returncode


def serve(port: int) -> None:
    """Serve build/site on this machine."""
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(BUILD / "site"))
    with ThreadingHTTPServer(("localhost", port), handler) as server:
        print(f"http://localhost:{server.server_address[1]} (Ctrl-C stops)", flush=True)
        server.serve_forever()


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", nargs="?", choices=("build", "serve"), default="build")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--quick", action="store_true", help="keep what Sphinx has built before")
    args = parser.parse_args()
    code = build(args.quick)
    if code:
        sys.exit(code)
    print(f"wrote {BUILD / 'site' / 'index.html'}")
    if args.command == "serve":
        serve(args.port)


if __name__ == "__main__":
    main()
