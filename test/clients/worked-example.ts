// Runs the pages of the documentation. Of the code blocks of a page,
//
//   sh        starts the server with the flags after `npm start --`
//   yaml, js  is a file if its first line is a comment with its name (`# widget.yaml`, `// webhook.mjs`)
//   console   is a shell session: lines after `$ ` and `> ` are input, the rest is output
//
// and in the output `…` stands for any text, alone on a line for any number of lines.
import { spawn } from 'node:child_process'

export type Step =
  | { readonly type: 'file'; readonly name: string; readonly content: string }
  | { readonly type: 'command'; readonly command: string; readonly answer: readonly string[]; readonly line: number }

export interface Page {
  readonly name: string
  readonly serverFlags: readonly string[]
  readonly steps: readonly Step[]
}

export function readPage(name: string, markdown: string): Page {
  const serverFlags: string[] = []
  const steps: Step[] = []
  for (const { language, lines, line } of codeBlocks(markdown)) {
    if (language === 'sh') serverFlags.push(...lines.flatMap(flagsOf))
    else if (language === 'console') steps.push(...commandsIn(lines, line))
    else {
      const file = /^(?:#|\/\/) (\S+\.(?:yaml|json|mjs))$/.exec(lines[0] ?? '')?.[1]
      if (file) steps.push({ type: 'file', name: file, content: `${lines.join('\n')}\n` })
    }
  }
  return { name, serverFlags, steps }
}

interface CodeBlock {
  readonly language: string
  readonly lines: readonly string[]
  /** The number of its first line. */
  readonly line: number
}

function codeBlocks(markdown: string): CodeBlock[] {
  const blocks: CodeBlock[] = []
  let open: { language: string; lines: string[]; line: number } | undefined
  for (const [i, text] of markdown.split('\n').entries()) {
    const fence = /^```(\S*)/.exec(text)
    if (!fence) open?.lines.push(text)
    else if (open) {
      blocks.push(open)
      open = undefined
    } else open = { language: fence[1]!, lines: [], line: i + 2 }
  }
  return blocks
}

/** With a separate data directory. */
const flagsOf = (line: string): string[] =>
  /^npm start -- (.*)$/
    .exec(line)?.[1]
    ?.split(' ')
    .filter(flag => flag.startsWith('--') && !flag.startsWith('--data-dir')) ?? []

function commandsIn(lines: readonly string[], first: number): Step[] {
  const commands: { type: 'command'; command: string; answer: string[]; line: number }[] = []
  for (const [i, text] of lines.entries()) {
    const last = commands.at(-1)
    if (text.startsWith('$ ')) commands.push({ type: 'command', command: text.slice(2), answer: [], line: first + i })
    else if (text.startsWith('> ') && last && last.answer.length === 0) last.command += `\n${text.slice(2)}`
    else last?.answer.push(text)
  }
  return commands
}

// ---- output

/** Whether the output is that of the page. */
export function isAnswer(answer: string, expected: readonly string[]): boolean {
  const given = tidy(expected.join('\n'))
  const lines = (given === '' ? [] : given.split('\n')).map(line =>
    line.trim() === '…' ? '(?:.*\\n)*?' : `${line.split('…').map(escapeRegExp).join('.*')}\\n`,
  )
  return new RegExp(`^${lines.join('')}$`, 'u').test(answer === '' ? '' : `${tidy(answer)}\n`)
}

const escapeRegExp = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)

/** Without parts that differ between runs: ages, times, uids, and the widths of their columns. */
export const tidy = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>')
    .replaceAll(/(^|\s)\d+[smhd](?:\d+[smh])?(?=\s|$)/g, '$1<age>')
    .replaceAll(/(resourceVersion: )"\d+"/g, '$1<version>')
    .replaceAll('\t', '  ')
    .replaceAll(/(\S) {2,}/g, '$1 ')
    .replaceAll(/ +$/gm, '')
    .replace(/\n+$/, '')

// ---- the shell

export interface Shell {
  /** Runs a command and resolves with its output on stdout and stderr. */
  type(command: string): Promise<string>
  close(): Promise<void>
}

const END = 'this-was-the-last-line-of-the-answer'

/** One bash process for a page, so that variables and jobs are kept. */
export function openShell(directory: string, env: Record<string, string>): Shell {
  const bash = spawn('bash', ['--noprofile', '--norc'], { cwd: directory, env, stdio: ['pipe', 'pipe', 'inherit'] })
  let text = ''
  let wake = (): void => {}
  bash.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more
    wake()
  })
  const closed = new Promise<void>(resolve => bash.once('close', () => resolve()))
  void closed.then(() => wake())
  bash.stdin.write('exec 2>&1\n')
  return {
    async type(command) {
      bash.stdin.write(`${command}\necho ${END}\n`)
      while (!text.includes(`${END}\n`)) {
        if (bash.exitCode !== null) throw new Error(`the shell has ended: ${text}`)
        await new Promise<void>(resolve => (wake = resolve))
      }
      const [answer = ''] = text.split(`${END}\n`)
      text = text.slice(answer.length + END.length + 1)
      return answer
    },
    async close() {
      // Ends background jobs of the page.
      bash.stdin.end('kill $(jobs -p) 2>/dev/null\n')
      await closed
    },
  }
}
