// `binnacle crd lint`: what is allowed in a definition and yet not good for its users.

import { specOf } from '../crd/definition.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import { type AcceptedDefinition, acceptDefinitions, nameOfKind, schemasOf } from './definitions.js'
import { type Document, isDefinition } from './documents.js'
import { type Finding, findingAt } from './findings.js'
import { conventionRules } from './lint/conventions.js'
import type { LintRule, Report } from './lint/lint-rule.js'
import { nameRules } from './lint/names.js'
import { ruleRules } from './lint/rules.js'
import { schemaRules } from './lint/schemas.js'
import { isSilenced } from './lint/silence.js'
import { statusRules } from './lint/status.js'

/** All rules, sorted by subject. */
export const LINT_RULES: readonly LintRule[] = [
  ...ruleRules,
  ...schemaRules,
  ...statusRules,
  ...nameRules,
  ...conventionRules,
]

export interface LintOptions {
  /** Names of rules that are not applied. */
  readonly ignored?: readonly string[] | undefined
}

export interface Linted {
  readonly findings: readonly Finding[]
  readonly definitions: number
}

/** What the server refuses is a finding, too; a refused definition is not looked at further. */
export async function lintDefinitions(documents: readonly Document[], options: LintOptions = {}): Promise<Linted> {
  const { accepted, findings, api } = await acceptDefinitions(documents)
  const { ignored = [] } = options
  const rules = LINT_RULES.filter(({ name }) => !ignored.includes(name))
  const builtin = [...api.registry.all()].filter(({ origin }) => origin === 'builtin')
  const found = accepted.flatMap(each => lintOne(each, rules, builtin))
  return { findings: [...findings, ...found], definitions: documents.filter(isDefinition).length }
}

function lintOne(
  { document, definition }: AcceptedDefinition,
  rules: readonly LintRule[],
  builtin: Parameters<LintRule['check']>[0]['builtin'],
): readonly Finding[] {
  const subject = { definition, spec: specOf(definition), schemas: schemasOf(definition), builtin }
  const object = nameOfKind(definition)
  const annotation = annotationOf(definition)
  return rules.flatMap(rule => {
    const { name, severity } = rule
    const found: Finding[] = []
    const report: Report = (at, message, hint) =>
      void found.push(findingAt(document, at, { rule: name, severity, message, hint: hint ?? rule.hint, object }))
    rule.check(subject, report)
    return found.filter(finding => !isSilenced(finding, document, annotation))
  })
}

export const IGNORE_ANNOTATION = 'binnacle.dev/lint-ignore'

const annotationOf = (definition: ApiObject): string => metaOf(definition).annotations?.[IGNORE_ANNOTATION] ?? ''
