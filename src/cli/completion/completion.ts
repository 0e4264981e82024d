// `binnacle completion bash|zsh|fish`: a script for a shell. At each Tab it calls `binnacle completion words`, so that it knows
// the commands and flags of the installed version.
import { UsageError } from '../../base/usage-error.js'
import type { Command } from '../command.js'
import { flagsIn } from './help-text.js'

const HELP = `Usage: binnacle completion bash|zsh|fish

Prints a script that makes the shell complete the commands and flags of binnacle. Load it when the shell starts:

  bash   source <(binnacle completion bash)      in ~/.bashrc
  zsh    source <(binnacle completion zsh)       in ~/.zshrc
  fish   binnacle completion fish | source       in ~/.config/fish/config.fish
`

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_binnacle() {
  local IFS=$'\\n'
  COMPREPLY=($(binnacle completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
  case \${COMPREPLY[0]} in *=) compopt -o nospace ;; esac
}
complete -F _binnacle binnacle
`,
  zsh: `_binnacle() {
  local -a found
  found=(\${(f)"$(binnacle completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#found} )); then compadd -S '' -- $found; else _files; fi
}
compdef _binnacle binnacle
`,
  fish: `complete -c binnacle -f -a '(binnacle completion words -- (commandline -opc)[2..-1] (commandline -ct))'
complete -c binnacle -F -n 'test -z "$(binnacle completion words -- (commandline -opc)[2..-1] (commandline -ct))"'
`,
}

const SHELLS = Object.keys(SCRIPTS)

/** `program`: all commands. */
export const completionCommand = (program: Command): Command => ({
  help: () => HELP,
  words: SHELLS,
  async run([first = '', separator, ...words]) {
    if (first === 'words' && separator === '--') {
      const found = await complete(program, words)
      return void process.stdout.write(found.map(word => `${word}\n`).join(''))
    }
    if (!Object.hasOwn(SCRIPTS, first)) {
      throw new UsageError(`completion is followed by the name of a shell: ${SHELLS.join(', ')}`)
    }
    process.stdout.write(SCRIPTS[first]!)
  },
})

/** What the last word, which may be empty, can become. */
export async function complete(program: Command, words: readonly string[]): Promise<readonly string[]> {
  const before = words.slice(0, -1)
  const last = words.at(-1) ?? ''
  let command = program
  for (const word of before) {
    const load = command.commands && Object.hasOwn(command.commands, word) ? command.commands[word] : undefined
    if (load) command = await load()
  }
  const candidates = last.startsWith('-')
    ? flagsIn(await command.help())
    : [...Object.keys(command.commands ?? {}), ...(command.words ?? [])]
  return candidates.filter(candidate => candidate.startsWith(last))
}
