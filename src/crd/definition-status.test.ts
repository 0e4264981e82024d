import { describe, expect, it } from 'vitest'
import { statusOf } from './definition.js'
import { NO_NAMES, namesTakenBy, withRightStatus } from './definition-status.js'
import { widgetDefinition } from './definitions.suite.js'

const NOW = Date.parse('2024-01-01T00:00:00Z')
const conditions = (...args: Parameters<typeof withRightStatus>) =>
  (statusOf(withRightStatus(...args)).conditions ?? []).map(({ type, status, reason }) => [type, status, reason])

describe('the status of a definition', () => {
  it('is established once its names are accepted', () => {
    expect(conditions(widgetDefinition(), NO_NAMES, NOW)).toEqual([
      ['NamesAccepted', 'True', 'NoConflicts'],
      ['Established', 'True', 'InitialNamesAccepted'],
    ])
  })

  it('does not change once it is right', () => {
    const current = withRightStatus(widgetDefinition(), NO_NAMES, NOW)
    expect(withRightStatus(current, namesTakenBy([statusOf(current).acceptedNames]), NOW + 1000)).toBe(current)
  })

  it('waits while a name is taken, and stays established when one is taken later', () => {
    const taken = namesTakenBy([{ plural: 'others', kind: 'Widget' }])
    expect(conditions(widgetDefinition(), taken, NOW)).toEqual([
      ['NamesAccepted', 'False', 'KindConflict'],
      ['Established', 'False', 'NotAccepted'],
    ])
    const current = withRightStatus(widgetDefinition(), NO_NAMES, NOW)
    const renamed = { ...current, spec: widgetDefinition({ names: { plural: 'widgets', kind: 'Other' } })['spec']! }
    expect(conditions(renamed, namesTakenBy([{ plural: 'others', kind: 'Other' }]), NOW)).toEqual([
      ['NamesAccepted', 'False', 'KindConflict'],
      ['Established', 'True', 'InitialNamesAccepted'],
    ])
  })

  it('names patterns that are none in a schema that is not structural', () => {
    const schema = { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string', pattern: '+' } } } }
    const definition = widgetDefinition({ preserveUnknownFields: true }, { schema })
    const found = statusOf(withRightStatus(definition, NO_NAMES, NOW)).conditions?.find(
      ({ type }) => type === 'NonStructuralSchema',
    )
    expect(found?.message).toContain(
      'openAPIV3Schema.properties[a].pattern: Invalid value: "+": must be a valid regular expression, but isn\'t: ',
    )
  })

  it('is not established while its webhook cannot be trusted', () => {
    const webhook = { clientConfig: { url: 'https://a', caBundle: 'bm8gY2VydGlmaWNhdGU=' } }
    const definition = widgetDefinition({ conversion: { strategy: 'Webhook', webhook } })
    expect(conditions(definition, NO_NAMES, NOW)[1]).toEqual(['Established', 'False', 'InvalidCABundle'])
  })

  it('tells whether a protected group is approved', () => {
    const definition = widgetDefinition({ group: 'x.k8s.io' })
    definition.metadata['annotations'] = { 'api-approved.kubernetes.io': 'unapproved, so far' }
    expect(conditions(definition, NO_NAMES, NOW)[2]).toEqual([
      'KubernetesAPIApprovalPolicyConformant',
      'False',
      'UnapprovedAnnotation',
    ])
  })
})
