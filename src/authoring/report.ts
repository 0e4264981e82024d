// Prints findings in the formats that people, editors and CI systems read.

import { sortFindings } from './findings.js'
import { printGithub } from './report/github.js'
import { printJsonReport } from './report/json.js'
import { printJunit } from './report/junit.js'
import type { Report } from './report/report.js'
import { printSarif } from './report/sarif.js'
import { printText } from './report/text.js'

export { counted, type Report, summaryOf } from './report/report.js'

export const REPORT_FORMATS = ['text', 'json', 'sarif', 'junit', 'github'] as const
export type ReportFormat = (typeof REPORT_FORMATS)[number]

const PRINTERS: Readonly<Record<ReportFormat, (report: Report) => string>> = {
  text: printText,
  json: printJsonReport,
  sarif: printSarif,
  junit: printJunit,
  github: printGithub,
}

export const printReport = (report: Report, format: ReportFormat): string =>
  PRINTERS[format]({ ...report, findings: sortFindings(report.findings) })
