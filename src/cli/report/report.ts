// What the commands that look at files share: the flags of the report, and the exit codes 0 (fine), 1 (findings) and 2
// (the command line or a file is wrong).

import { hasAtLeast, type Severity } from '../../authoring/findings.js'
import { printReport, REPORT_FORMATS, type Report, type ReportFormat } from '../../authoring/report.js'
import { packageVersion } from '../../base/package-version.js'
import { UsageError } from '../../base/usage-error.js'
import { choice } from '../../server/options.js'

export const reportFlags = (failOn: Severity) => ({
  output: choice(REPORT_FORMATS, 'the format of the findings', 'text'),
  'fail-on': choice(['error', 'warning', 'note'], 'the least serious findings that make the exit code 1', failOn),
})

export interface ReportValues {
  readonly output: ReportFormat | undefined
  readonly 'fail-on': Severity | undefined
}

/** Prints the report, and sets the exit code. */
export function finish(report: Omit<Report, 'version'>, values: ReportValues): void {
  process.stdout.write(printReport({ ...report, version: packageVersion() }, values.output ?? 'text'))
  process.exitCode = hasAtLeast(report.findings, values['fail-on'] ?? 'error') ? 1 : 0
}

/** Runs a command; what is wrong with the command line or a file is one line, and exit code 2. */
export async function withUsageErrors(run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    console.error(`binnacle: ${error.message}`)
    process.exitCode = 2
  }
}

export const EXIT_CODES = 'Exit code: 0 without findings, 1 with findings, 2 if the command line or a file is wrong.'
