import { expect, test } from 'vitest'
import { aggregated } from './aggregation.js'
import type { Role } from './rbac.js'

const part = (verb: string, labels: Record<string, string> = {}, selects?: Record<string, string>): Role => ({
  metadata: { name: verb, labels },
  rules: [{ verbs: [verb] }],
  ...(selects && { aggregationRule: { clusterRoleSelectors: [{ matchLabels: selects }] } }),
})
const verbsOf = ({ rules }: Role): unknown[] => (rules ?? []).flatMap(({ verbs }) => verbs)

test('a role has its own rules and those of the roles that it selects', () => {
  const whole = part('own', {}, { to: 'whole' })
  const all = [whole, part('one', { to: 'whole' }), part('other'), part('two', { to: 'whole' })]
  expect(verbsOf(aggregated(whole, () => all))).toEqual(['own', 'one', 'two'])
})

test('what is selected by a role that is selected counts too, also in a circle', () => {
  const admin = part('admin', { to: 'view' }, { to: 'admin' })
  const edit = part('edit', { to: 'admin' }, { to: 'edit' })
  const view = part('view', { to: 'edit' }, { to: 'view' })
  const all = [admin, edit, view]
  expect(verbsOf(aggregated(admin, () => all))).toEqual(['admin', 'edit', 'view'])
})

test('a role that selects none is left as it is', () => {
  const role = part('own')
  expect(aggregated(role, () => [part('one')])).toBe(role)
})
