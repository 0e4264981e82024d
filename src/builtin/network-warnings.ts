// Advice about addresses: what is understood, but not written as everybody writes it.
import { indexPath } from '../meta/errors/field-errors.js'
import { mapAt, objectAt, objectsAt, stringAt, stringsAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import { cidrWarnings, ipWarnings } from './common/ip-warnings.js'

/** Controllers that write addresses as they should be. */
const TIDY_CONTROLLERS: ReadonlySet<string> = new Set([
  'endpointslice-controller.k8s.io',
  'endpointslicemirroring-controller.k8s.io',
])

export function endpointSliceWarnings(slice: ValueObject, old: ValueObject | undefined): string[] {
  const type = stringAt(slice, 'addressType')
  const deprecated = old === undefined && type === 'FQDN'
  const manager = mapAt(objectAt(slice, 'metadata'), 'labels')['endpointslice.kubernetes.io/managed-by']
  const isTidy = manager !== undefined && TIDY_CONTROLLERS.has(manager)
  const endpoints = isTidy ? [] : objectsAt(slice, 'endpoints')
  return [
    ...(deprecated ? ['spec.addressType: FQDN endpoints are deprecated'] : []),
    ...endpoints.flatMap((endpoint, i) =>
      stringsAt(endpoint, 'addresses').flatMap((address, j) =>
        ipWarnings(address, indexPath(`${indexPath('endpoints', i)}.addresses`, j)),
      ),
    ),
  ]
}

export function networkPolicyWarnings(policy: ValueObject): string[] {
  const spec = objectAt(policy, 'spec')
  const inRules = (rules: string, peers: string): string[] =>
    objectsAt(spec, rules).flatMap((rule, i) =>
      objectsAt(rule, peers).flatMap((peer, j) =>
        blockWarnings(objectAt(peer, 'ipBlock'), indexPath(`${indexPath(`spec.${rules}`, i)}.${peers}`, j)),
      ),
    )
  return [...inRules('ingress', 'from'), ...inRules('egress', 'to')]
}

const blockWarnings = (block: ValueObject, path: string): string[] => [
  ...cidrWarnings(stringAt(block, 'cidr'), `${path}.ipBlock.cidr`),
  ...stringsAt(block, 'except').flatMap((range, i) => cidrWarnings(range, indexPath(`${path}.ipBlock.except`, i))),
]
