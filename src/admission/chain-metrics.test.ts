import { expect, test } from 'vitest'
import { createMetrics } from '../base/metrics.js'
import { forbidden } from '../meta/errors/status.js'
import { attributesFor } from './attributes.suite.js'
import { type AdmissionPlugin, createAdmission } from './chain.js'
import { createChainMetrics } from './chain-metrics.js'
import { countedConditions } from './expressions/condition-metrics.js'
import { matchConditions } from './expressions/match-conditions.js'

const CREATE = new Set(['CREATE'] as const)

test('phases and plugins are counted, with refusals and promises', async () => {
  const metrics = createMetrics()
  const refusing: AdmissionPlugin = {
    name: 'AlwaysDeny',
    operations: CREATE,
    mutate: () => undefined,
    async validate() {
      throw forbidden({ group: '', resource: 'pods' }, 'a', 'no')
    },
  }
  const internal: AdmissionPlugin = { name: 'a step', operations: CREATE, validate() {} }
  const chain = createAdmission(
    [internal, refusing],
    createChainMetrics(metrics, name => name === 'AlwaysDeny'),
  )
  const attributes = attributesFor('pods', { object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } } })
  await chain.mutate(attributes)
  await expect((async () => chain.validate(attributes))()).rejects.toThrow('no')
  const counts = (await metrics.print()).split('\n').filter(line => line.includes('_count{'))
  expect(counts).toEqual([
    'apiserver_admission_controller_admission_duration_seconds_count{name="AlwaysDeny",operation="CREATE",rejected="false",type="admit"} 1',
    'apiserver_admission_controller_admission_duration_seconds_count{name="AlwaysDeny",operation="CREATE",rejected="true",type="validate"} 1',
    'apiserver_admission_step_admission_duration_seconds_count{operation="CREATE",rejected="false",type="admit"} 1',
    'apiserver_admission_step_admission_duration_seconds_count{operation="CREATE",rejected="true",type="validate"} 1',
    'apiserver_admission_step_admission_duration_seconds_summary_count{operation="CREATE",rejected="false",type="admit"} 1',
    'apiserver_admission_step_admission_duration_seconds_summary_count{operation="CREATE",rejected="true",type="validate"} 1',
  ])
})

test('match conditions are counted if they exclude a request or fail', async () => {
  const metrics = createMetrics()
  const evaluate = countedConditions(metrics, 'policy', 'validate')
  const of = (...expressions: string[]) =>
    matchConditions(
      expressions.map((expression, i) => ({ name: `c${i}`, expression })),
      'Fail',
    )
  evaluate(of('true'), 'p', 'CREATE', {})
  evaluate(of('1 / 0 == 1', '2 / 0 == 1'), 'p', 'CREATE', {})
  evaluate(of('1 / 0 == 1', 'false', '2 / 0 == 1'), 'p', 'CREATE', {})
  const lines = (await metrics.print()).split('\n').filter(line => /^\w+(_total|_count)\{/.test(line))
  const labels = '{kind="policy",name="p",operation="CREATE",type="validate"}'
  expect(lines).toEqual([
    `apiserver_admission_match_condition_evaluation_errors_total${labels} 3`,
    `apiserver_admission_match_condition_evaluation_seconds_count${labels} 2`,
    `apiserver_admission_match_condition_exclusions_total${labels} 1`,
  ])
})
