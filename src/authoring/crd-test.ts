// `binnacle crd test`: cases that authors keep beside their definition, and which checks of the schema no case has broken.

import { createCoverage } from './cases/coverage.js'
import { readCases } from './cases/read-cases.js'
import { runCase } from './cases/run-case.js'
import { acceptDefinitions, schemasOf } from './definitions.js'
import { apiVersionIn, type Document, kindIn } from './documents.js'
import { type Finding, findingAt } from './findings.js'

export interface Tested {
  readonly findings: readonly Finding[]
  readonly cases: number
  readonly failed: number
  readonly coverage: { readonly broken: number; readonly checks: number }
}

export const isSuite = (document: Document): boolean =>
  kindIn(document) === 'DefinitionTest' && apiVersionIn(document) === 'binnacle.dev/v1'

/** Runs the cases of all DefinitionTests among the documents, by the definitions and policies among them. */
export async function testDefinitions(documents: readonly Document[]): Promise<Tested> {
  const { accepted, findings, api } = await acceptDefinitions(documents)
  const all: Finding[] = [...findings]
  const coverage = createCoverage(
    accepted.flatMap(({ document, definition }) =>
      schemasOf(definition).map(({ version, root }) => ({ version, root, document, definition })),
    ),
  )
  const others = documents.filter(document => !isSuite(document) && !accepted.some(each => each.document === document))
  for (const document of others) {
    if (!apiVersionIn(document).startsWith('admissionregistration.k8s.io/')) continue
    const of = api.find(apiVersionIn(document), kindIn(document))
    const answer = of && (await api.create(of, document))
    if (answer?.prepared) api.keep(answer.prepared.stored)
  }
  let cases = 0
  let failed = 0
  for (const document of documents.filter(isSuite)) {
    const read = readCases(document)
    all.push(...read.findings)
    for (const testCase of read.cases) {
      cases++
      const problems = await runCase(api, testCase, coverage)
      if (problems.length > 0) failed++
      for (const { field, message } of problems) {
        const object = `case ${JSON.stringify(testCase.name)}`
        all.push(
          findingAt(document, `${testCase.at}.${field}`, { rule: 'case-failed', severity: 'error', message, object }),
        )
      }
    }
  }
  all.push(...coverage.neverBroken())
  return { findings: all, cases, failed, coverage: coverage.counts() }
}
