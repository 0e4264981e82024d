// Workflow commands of GitHub Actions, which it shows as annotations of the changed lines.
import type { Finding, Severity } from '../findings.js'
import { type Report, summaryOf } from './report.js'

const COMMANDS: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', note: 'notice' }

export function printGithub(report: Report): string {
  const lines = report.findings.map(printCommand)
  return `${[...lines, summaryOf(report)].join('\n')}\n`
}

function printCommand({ severity, at, rule, object, message, hint }: Finding): string {
  const title = object === undefined ? rule : `${rule}: ${object}`
  const parameters = { file: at.file, line: at.line, col: at.column, title }
  const written = Object.entries(parameters).map(([name, value]) => `${name}=${escapeParameter(String(value))}`)
  const text = hint === undefined ? message : `${message}\n${hint}`
  return `::${COMMANDS[severity]} ${written.join(',')}::${escapeText(text)}`
}

const escapeText = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

const escapeParameter = (text: string): string => escapeText(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
