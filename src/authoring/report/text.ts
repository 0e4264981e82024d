// Findings for people: position, message, the line of the file with a mark under the column, and what would be right.
import { type Finding } from '../findings.js'
import { type Report, summaryOf } from './report.js'

const MAX_SHOWN = 160

export function printText(report: Report): string {
  const blocks = report.findings.map(printFinding)
  return `${[...blocks, summaryOf(report)].join('\n')}\n`
}

function printFinding({ at, severity, message, rule, hint, object }: Finding): string {
  const [first, ...more] = message.split('\n')
  const about = object === undefined ? '' : `${object}: `
  const lines = [`${at.file}:${at.line}:${at.column}: ${severity}: ${about}${first} [${rule}]`]
  for (const line of more) lines.push(`    ${line}`)
  lines.push(...excerpt(at.text, at.line, at.column))
  if (hint !== undefined) lines.push(`    hint: ${hint}`)
  return `${lines.join('\n')}\n`
}

function excerpt(text: string, line: number, column: number): readonly string[] {
  if (text.trim() === '') return []
  const number = String(line).padStart(4)
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text
  const lines = [`${number} | ${cut.replaceAll('\t', ' ')}`]
  if (column <= cut.length) lines.push(`     | ${' '.repeat(column - 1)}^`)
  return lines
}
