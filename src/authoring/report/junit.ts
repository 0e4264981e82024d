// JUnit's XML: a test case for each file, which fails if the file has errors.
import type { Finding } from '../findings.js'
import type { Report } from './report.js'

export function printJunit({ command, findings, files }: Report): string {
  const names = [...new Set([...files, ...findings.map(({ at }) => at.file)])].toSorted()
  const cases = names.map(name => {
    const own = findings.filter(({ at }) => at.file === name)
    const failures = own.filter(({ severity }) => severity === 'error').map(printFailure)
    const others = own.filter(({ severity }) => severity !== 'error')
    const output = others.length === 0 ? [] : [`    <system-out>${escape(others.map(lineOf).join('\n'))}</system-out>`]
    const inner = [...failures, ...output]
    const head = `  <testcase classname="binnacle ${escape(command)}" name="${escape(name)}"`
    return inner.length === 0 ? `${head}/>` : `${head}>\n${inner.join('\n')}\n  </testcase>`
  })
  const failed = names.filter(name => findings.some(({ at, severity }) => at.file === name && severity === 'error'))
  const suite = `<testsuite name="binnacle ${escape(command)}" tests="${names.length}" failures="${failed.length}">`
  return `<?xml version="1.0" encoding="UTF-8"?>\n${suite}\n${cases.map(each => `${each}\n`).join('')}</testsuite>\n`
}

const printFailure = (finding: Finding): string =>
  `    <failure type="${escape(finding.rule)}" message="${escape(finding.message)}">${escape(lineOf(finding))}</failure>`

const lineOf = ({ at, severity, object, message, hint }: Finding): string =>
  `${at.file}:${at.line}:${at.column}: ${severity}: ${object === undefined ? '' : `${object}: `}${message}` +
  (hint === undefined ? '' : `\n${hint}`)

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
}

/** Control characters are not allowed in XML, whichever way they are written. */
const escape = (text: string): string =>
  // oxlint-disable-next-line no-control-regex
  text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '\ufffd').replaceAll(/[&<>"\n]/g, each => ESCAPES[each]!)
