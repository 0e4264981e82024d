// `POST /console/api/costs`: what the rules of a definition may cost, and which bounds would make an expensive one cheap.
// `binnacle cel explain` prints the same.

import { startTurns } from '../../base/turns.js'
import { UNBOUNDED } from '../../cel/index.js'
import { versionsOf } from '../../crd/definition.js'
import type { Registry } from '../../kinds/registry.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { type Bound, type RuleCost, remedySteps, ruleCosts } from '../../schema/explain-costs.js'
import { RULE_COST_LIMIT, TOTAL_COST_LIMIT } from '../../schema/rules.js'
import { type Endpoint, withoutAbsent } from './endpoint.js'
import { definitionIn } from './input.js'

/** Bounds are found by compiling the schema again and again, so that time for it is limited. */
const REMEDY_MS = 2_000
/** Rules that cost less than this part of the limit need no bounds. */
const WORTH_A_BOUND = 0.1

export const createCosts =
  (registry: Registry): Endpoint =>
  async ({ body }) => {
    const until = performance.now() + REMEDY_MS
    const turns = startTurns()
    const versions: ValueObject[] = []
    for (const { name, schema } of versionsOf(definitionIn(body, registry))) {
      const written = schema?.openAPIV3Schema
      const rules: RuleCost[] = []
      for (const rule of written === undefined ? [] : ruleCosts(written)) {
        rules.push(rule)
        await turns.next()
      }
      const described: ValueObject[] = []
      for (const [i, rule] of rules.entries()) described.push(describe(rule, await boundsFor(written, rule, i, until)))
      const total = rules.reduce((sum, rule) => Math.min(sum + rule.total, UNBOUNDED), 0)
      versions.push({ name, total: { estimate: total, limit: TOTAL_COST_LIMIT }, rules: described })
    }
    return { versions }
  }

/** Undefined if there was no time to find them: that is better than a page that waits for minutes. */
async function boundsFor(
  written: unknown,
  rule: RuleCost,
  index: number,
  until: number,
): Promise<readonly Bound[] | undefined> {
  if (rule.total < RULE_COST_LIMIT * WORTH_A_BOUND || rule.compiled.error !== undefined) return []
  const turns = startTurns()
  const steps = remedySteps(written as Value, index)
  while (performance.now() < until) {
    const { done, value } = steps.next()
    if (done === true) return value.alone.length > 0 ? value.alone : value.together
    await turns.next()
  }
  return undefined
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
