import { high, low, medium } from './verdict.ts'
import type { Verdict } from './verdict.ts'

/** They make other programs run foreign code. */
const HIGH = new Set(['LD_PRELOAD', 'LD_AUDIT', 'DYLD_INSERT_LIBRARIES', 'BASH_ENV', 'PROMPT_COMMAND'])
/** They change which program, library, start file or settings another program takes; many hold a command text. */
const MEDIUM = new Set(
  (
    'HOME XDG_CONFIG_HOME XDG_CONFIG_DIRS PATH LD_LIBRARY_PATH NODE_OPTIONS PYTHONSTARTUP PERL5OPT RUBYOPT PAGER EDITOR IFS ENV ' +
    'PS0 PS1 PS2 PS4 SHELLOPTS BASHOPTS FPATH ZDOTDIR SHELL VISUAL BROWSER MANPAGER SYSTEMD_PAGER SYSTEMD_EDITOR ' +
    'LESS LESSOPEN LESSCLOSE LESSEDIT RIPGREP_CONFIG_PATH GCONV_PATH PYTHONHOME PYTHONBREAKPOINT PERL5DB ' +
    'MAKEFLAGS MAKE CC CXX LD AR RUSTC GOFLAGS GOENV JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS MAVEN_OPTS ' +
    'MAVEN_ARGS GRADLE_OPTS PYTEST_ADDOPTS PYTEST_PLUGINS DOCKER_HOST DOCKER_CONFIG KUBECONFIG TF_CLI_CONFIG_FILE'
  ).split(' '),
)
/** Whole families: Git alone reads dozens that name a program, a repository or settings. */
const MEDIUM_FAMILY =
  /^(?:GIT_(?!(?:AUTHOR|COMMITTER)_|TERMINAL_PROMPT$|OPTIONAL_LOCKS$)|LD_|DYLD_|BASH_FUNC_|LESSKEY|CARGO_|RUSTC_|RUSTDOC|npm_config_|NPM_CONFIG_)/
const NOTHING = low('Only sets variables.')

/** What setting this variable comes to, whatever the value. */
export function judgeAssignment(name: string): Verdict {
  if (HIGH.has(name)) return high(`Sets ${name}, which makes other programs load code.`)
  if (MEDIUM.has(name) || MEDIUM_FAMILY.test(name))
    return medium(`Sets ${name}, which changes what other programs run.`)
  return NOTHING
}

/** The variable of `NAME=…`, `NAME+=…` or `NAME[…]=…`; null for any other word. */
export function assignedName(text: string): string | null {
  return /^([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]]*\])?\+?=/.exec(text)?.[1] ?? null
}
