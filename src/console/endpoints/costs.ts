// `POST /console/api/costs`: what the rules of a definition may cost, and which bounds would make an expensive one cheap.
// `binnacle cel explain` prints the same.

import { UNBOUNDED } from '../../cel/index.js'
import { versionsOf } from '../../crd/definition.js'
import type { Registry } from '../../kinds/registry.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { type Bound, explainCosts, findRemedies, type RuleCost } from '../../schema/explain-costs.js'
import { RULE_COST_LIMIT, TOTAL_COST_LIMIT } from '../../schema/rules.js'
import { type Endpoint, withoutAbsent } from './endpoint.js'
import { definitionIn } from './input.js'

/** Bounds are found by compiling the schema again and again, so that time for it is limited. */
const REMEDY_MS = 2_000
/** Rules that cost less than this part of the limit need no bounds. */
const WORTH_A_BOUND = 0.1

export const createCosts =
  (registry: Registry): Endpoint =>
  ({ body }) => {
    const until = performance.now() + REMEDY_MS
    const versions = versionsOf(definitionIn(body, registry)).map(({ name, schema }): ValueObject => {
      const written = schema?.openAPIV3Schema
      const rules = written === undefined ? [] : explainCosts(written)
      const total = rules.reduce((sum, rule) => Math.min(sum + rule.total, UNBOUNDED), 0)
      return {
        name,
        total: { estimate: total, limit: TOTAL_COST_LIMIT },
        rules: rules.map((rule, i) => describe(rule, boundsFor(written, rule, i, until))),
      }
    })
    return { versions }
  }

function boundsFor(written: unknown, rule: RuleCost, index: number, until: number): readonly Bound[] | undefined {
  if (rule.total < RULE_COST_LIMIT * WORTH_A_BOUND || rule.compiled.error !== undefined) return []
  // It stays unsaid that there are bounds, rather than that a page waits for minutes.
  if (performance.now() > until) return undefined
  const { alone, together } = findRemedies(written as Value, index)
  return alone.length > 0 ? alone : together
}

function describe(rule: RuleCost, bounds: readonly Bound[] | undefined): ValueObject {
  const { field, compiled, once, times, total, parts } = rule
  const { error, rule: written, usesOldSelf } = compiled
  return {
    path: field,
    rule: written.rule,
    ...(written.message !== '' && { message: written.message }),
    ...(error !== undefined && { error }),
    isTransition: usesOldSelf,
    estimate: total,
    perEvaluation: once,
    times,
    limit: RULE_COST_LIMIT,
    parts: parts.map(({ text, depth, cost, size, repeated }) => withoutAbsent({ text, depth, cost, size, repeated })),
    ...(bounds && { bounds: bounds.map(bound => ({ ...bound })) }),
  }
}
