// `binnacle man`: the manual page, made of the help texts. The build writes it to a file of the package.
import { packageVersion } from '../../base/package-version.js'
import type { Command, CommandTable } from '../command.js'

const HELP = `Usage: binnacle man

Prints the manual page: binnacle man | man -l -
`

/** `program`: all commands. */
export const manCommand = (program: Command): Command => ({
  help: () => HELP,
  async run() {
    process.stdout.write(await manualPage(program))
  },
})

export async function manualPage({ commands = {}, help }: Command): Promise<string> {
  const sections = await sectionsOf('binnacle', commands)
  return `.TH BINNACLE 1 "" "binnacle ${packageVersion()}" "Binnacle"
.SH NAME
binnacle \\- the Kubernetes API without the cluster
.SH SYNOPSIS
.B binnacle
.I command
[flags]
.SH DESCRIPTION
${verbatim(await help())}
${sections.join('\n')}
`
}

/** A section for each command, those of a group behind it. */
async function sectionsOf(prefix: string, commands: CommandTable): Promise<readonly string[]> {
  const sections: string[] = []
  for (const [name, load] of Object.entries(commands)) {
    const { help, commands: own } = await load()
    sections.push(`.SH "${`${prefix} ${name}`.toUpperCase()}"\n${verbatim(await help())}`)
    if (own) sections.push(...(await sectionsOf(`${prefix} ${name}`, own)))
  }
  return sections
}

/** Lines as they are. A backslash, and a point or quote at the beginning of a line, mean something to roff. */
function verbatim(text: string): string {
  const lines = text
    .trimEnd()
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^([.'])/gm, '\\&$1')
  return `.nf\n${lines}\n.fi`
}
