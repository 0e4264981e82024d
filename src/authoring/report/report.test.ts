import { expect, test } from 'vitest'
import { createFinding } from '../findings.js'
import { printReport, type ReportFormat } from '../report.js'

const findings = [
  createFinding({
    rule: 'unknown-field',
    severity: 'warning',
    message: 'unknown field "spec.<x>"',
    hint: 'did you mean "y"?',
    at: { file: 'b dir/b.yaml', line: 3, column: 3, text: '  <x>: 1' },
    field: 'spec.<x>',
    object: 'Widget a',
  }),
  createFinding({
    rule: 'FieldValueInvalid',
    severity: 'error',
    message: 'first, line\nsecond: 100%',
    at: { file: 'a.yaml', line: 12, column: 1, text: '' },
  }),
]

const print = (format: ReportFormat, some = findings): string =>
  printReport(
    { command: 'validate', version: '1.2.3', findings: some, checked: '2 objects', files: ['a.yaml', 'c.yaml'] },
    format,
  )

test('text shows the position, the line with a mark, and the hint, in the order of the files', () => {
  expect(print('text')).toBe(`a.yaml:12:1: error: first, line [FieldValueInvalid]
    second: 100%

b dir/b.yaml:3:3: warning: Widget a: unknown field "spec.<x>" [unknown-field]
   3 |   <x>: 1
     |   ^
    hint: did you mean "y"?

1 error and 1 warning in 2 objects
`)
  expect(print('text', [])).toBe('no findings in 2 objects\n')
})

test('github has one command for each finding, escaped', () => {
  expect(print('github').split('\n').slice(0, 2)).toEqual([
    '::error file=a.yaml,line=12,col=1,title=FieldValueInvalid::first, line%0Asecond: 100%25',
    '::warning file=b dir/b.yaml,line=3,col=3,title=unknown-field%3A Widget a::unknown field "spec.<x>"%0Adid you mean "y"?',
  ])
})

test('junit has a case for each file, and fails those with errors', () => {
  expect(print('junit')).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="binnacle validate" tests="3" failures="1">
  <testcase classname="binnacle validate" name="a.yaml">
    <failure type="FieldValueInvalid" message="first, line&#10;second: 100%">a.yaml:12:1: error: first, line&#10;second: 100%</failure>
  </testcase>
  <testcase classname="binnacle validate" name="b dir/b.yaml">
    <system-out>b dir/b.yaml:3:3: warning: Widget a: unknown field &quot;spec.&lt;x&gt;&quot;&#10;did you mean &quot;y&quot;?</system-out>
  </testcase>
  <testcase classname="binnacle validate" name="c.yaml"/>
</testsuite>
`)
})

interface SarifLog {
  readonly version: string
  readonly runs: readonly [{ tool: { driver: { rules: { id: string }[] } }; results: object[] }]
}

test('sarif has the rules and the regions', () => {
  const { version, runs } = JSON.parse(print('sarif')) as SarifLog
  expect(version).toBe('2.1.0')
  expect(runs[0].tool.driver.rules.map(({ id }) => id)).toEqual(['FieldValueInvalid', 'unknown-field'])
  expect(runs[0].results[1]).toEqual({
    ruleId: 'unknown-field',
    ruleIndex: 1,
    level: 'warning',
    message: { text: 'Widget a: unknown field "spec.<x>"\ndid you mean "y"?' },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: 'b%20dir/b.yaml' },
          region: { startLine: 3, startColumn: 3 },
        },
      },
    ],
  })
})

test('json has everything', () => {
  expect((JSON.parse(print('json')) as { findings: object[] }).findings[1]).toEqual({
    rule: 'unknown-field',
    severity: 'warning',
    message: 'unknown field "spec.<x>"',
    hint: 'did you mean "y"?',
    file: 'b dir/b.yaml',
    line: 3,
    column: 3,
    field: 'spec.<x>',
    object: 'Widget a',
  })
})
