// SARIF 2.1.0, which code scanning of GitHub and editors read.
import { pathToFileURL } from 'node:url'
import type { Finding } from '../findings.js'
import type { Report } from './report.js'

export function printSarif({ command, version, findings, rules = new Map() }: Report): string {
  const names = [...new Set(findings.map(({ rule }) => rule))].toSorted()
  const run = {
    tool: {
      driver: {
        name: `binnacle ${command}`,
        semanticVersion: version,
        rules: names.map(id => ({ id, shortDescription: { text: rules.get(id) ?? id } })),
      },
    },
    columnKind: 'utf16CodeUnits',
    results: findings.map(finding => resultOf(finding, names.indexOf(finding.rule))),
  }
  const log = { version: '2.1.0', $schema: 'https://json.schemastore.org/sarif-2.1.0.json', runs: [run] }
  return `${JSON.stringify(log, undefined, 2)}\n`
}

function resultOf({ rule, severity, message, hint, at, object }: Finding, ruleIndex: number): object {
  const about = object === undefined ? '' : `${object}: `
  return {
    ruleId: rule,
    ruleIndex,
    level: severity,
    message: { text: `${about}${message}${hint === undefined ? '' : `\n${hint}`}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(at.file) },
          region: { startLine: at.line, startColumn: at.column },
        },
      },
    ],
  }
}

/** A relative path stays relative, so that it is resolved in the repository. */
function uriOf(file: string): string {
  if (file.startsWith('/')) return pathToFileURL(file).href
  return file.split('/').map(encodeURIComponent).join('/')
}
