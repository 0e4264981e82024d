// The costs of an admission policy, printed: part of `binnacle cel explain`.
import { COST_BUDGET, EXPRESSION_COST_LIMIT, explainPolicy } from '../../authoring/policy-costs.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import type { ValueObject } from '../../meta/values/value.js'

export interface PolicyObjects {
  readonly object: ValueObject | undefined
  readonly old: ValueObject | undefined
  readonly params: ValueObject | undefined
}

export const isPolicy = (value: ValueObject): boolean =>
  value['kind'] === 'ValidatingAdmissionPolicy' || value['kind'] === 'MutatingAdmissionPolicy'

export function explainPolicyCosts(
  policy: ValueObject,
  { object, old, params }: PolicyObjects,
): { text: string; ok: boolean } {
  const { name = '' } = metaOf(policy)
  const request = {
    operation: old === undefined ? 'CREATE' : 'UPDATE',
    name: metaOf(object ?? {}).name ?? '',
    namespace: metaOf(object ?? {}).namespace ?? '',
    userInfo: { username: 'kubernetes-admin', uid: '', groups: ['system:masters'], extra: {} },
    dryRun: false,
    options: null,
  }
  const inputs = object && { object, oldObject: old ?? null, params: params ?? null, request }
  const costs = explainPolicy(policy as ApiObject, inputs)
  const lines = [`${policy['kind'] as string} ${name}: ${costs.length} expression${costs.length === 1 ? '' : 's'}`, '']
  let total = 0
  let ok = true
  for (const { at, text, error, cost, value } of costs) {
    lines.push(`${at}: ${text.trim()}`)
    if (error !== undefined) {
      ok = false
      lines.push(...`WRONG: ${error}`.split('\n').map(line => `  ${line}`))
    }
    if (cost === undefined) continue
    total += cost
    const result = typeof value === 'boolean' || typeof value === 'string' ? `; it gives ${JSON.stringify(value)}` : ''
    lines.push(
      `  costs ${cost.toLocaleString('en-US')} on the object, of at most ${EXPRESSION_COST_LIMIT.toLocaleString('en-US')}${result}`,
    )
    if (at.startsWith('validations') && at.endsWith('.expression') && value === false) ok = false
  }
  lines.push('')
  if (object)
    lines.push(
      `All together cost ${total.toLocaleString('en-US')} on the object, of at most ${COST_BUDGET.toLocaleString('en-US')} for a policy.`,
    )
  else lines.push('The costs of a policy depend on the object: give one with --object.')
  return { text: `${lines.join('\n')}\n`, ok }
}
