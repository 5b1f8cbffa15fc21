"""The command ``trug-fast``, also ``python -m trug_fast``: Ctrl-C may come during its imports.

Tested in tests/test_package.py.
"""

import sys


def main() -> int:
    """Import the package and run its command line; return the exit code."""
    try:
        from trug_fast.cli import main as command
    except KeyboardInterrupt:
        print("trug-fast: interrupted", file=sys.stderr)
        return 130
    except ImportError as error:
        print(f"trug-fast: {error}", file=sys.stderr)
        return 2
    return command()


if __name__ == "__main__":
    sys.exit(main())
