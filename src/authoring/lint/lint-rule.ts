// One rule of the linter.

import type { DefinitionSpec } from '../../crd/definition.js'
import type { Kind } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import type { VersionSchema } from '../definitions.js'
import type { Severity } from '../findings.js'

export interface LintRule {
  readonly name: string
  readonly severity: Severity
  /** Why it is a rule. */
  readonly reason: string
  /** What would be right, where a finding does not say it better. */
  readonly hint?: string | undefined
  check(subject: LintSubject, report: Report): void
}

export interface LintSubject {
  readonly definition: ApiObject
  readonly spec: DefinitionSpec
  readonly schemas: readonly VersionSchema[]
  readonly builtin: readonly Kind[]
}

/** `at` is a field of the definition. */
export type Report = (at: string, message: string, hint?: string) => void
