// NetworkPolicy: which peers pods may talk to, and at which ports.
import {
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkPortName } from '../../meta/object/names.js'
import { checkLabelSelector } from '../../meta/selectors/label-selectors.js'
import {
  ensureObject,
  has,
  numberOrNone,
  objectAt,
  objectOrNone,
  objectsAt,
  setDefault,
  stringAt,
  stringsAt,
} from '../../meta/values/access.js'
import { getOwn, type ValueObject } from '../../meta/values/value.js'
import { selectorCell } from '../apps/pod-owner.js'
import { defineKind, type Warnings } from '../common/define-kind.js'
import { checkPortNumber, checkText } from '../common/field-checks.js'
import { checkCidr, isStrictlyWithin, parseCidr } from '../common/ip-rules.js'
import { cidrWarnings } from '../common/ip-warnings.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, each, field, optional, type Rule } from '../common/rules.js'
import { countExactChanges, inTurn, keepGeneration, startGeneration } from '../common/strategies.js'
import { ageOf, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'

/** Where a policy names its peers. */
const DIRECTIONS = [
  { rules: 'ingress', peers: 'from' },
  { rules: 'egress', peers: 'to' },
] as const

function defaults(policy: ValueObject): void {
  const spec = ensureObject(policy, 'spec')
  for (const { rules } of DIRECTIONS) {
    for (const rule of objectsAt(spec, rules)) {
      for (const port of objectsAt(rule, 'ports')) setDefault(port, 'protocol', 'TCP', false)
    }
  }
  if (stringsAt(spec, 'policyTypes').length > 0) return
  spec['policyTypes'] = objectsAt(spec, 'egress').length > 0 ? ['Ingress', 'Egress'] : ['Ingress']
}

// ---- ports

const PROTOCOLS = ['TCP', 'UDP', 'SCTP']

const protocol = check((port, path) => {
  const given = stringAt(port, 'protocol')
  if (!has(port, 'protocol') || PROTOCOLS.includes(given)) return []
  return [fieldNotSupported(childPath(path, 'protocol'), given, PROTOCOLS)]
})

/** `endPort` needs a port with a number. */
const portRange = check((port, path) => {
  const at = (name: string): string => childPath(path, name)
  const number = getOwn(port, 'port')
  const end = numberOrNone(port, 'endPort')
  const noEnd = (why: string): FieldError[] =>
    end === undefined ? [] : [fieldInvalid(at('endPort'), end, `may not be specified when \`port\` is ${why}`)]
  if (number === undefined || number === null) return noEnd('not specified')
  if (typeof number === 'string') {
    return [...noEnd('non-numeric'), ...checkText(number, checkPortName, at('port'))]
  }
  const errors = checkPortNumber(Number(number), at('port'))
  if (end === undefined) return errors
  // kube-apiserver shows the value of the port here.
  if (end < Number(number)) {
    errors.push(fieldInvalid(at('endPort'), Number(number), 'must be greater than or equal to `port`'))
  }
  return [...errors, ...checkPortNumber(end, at('endPort'))]
})

// ---- peers

/** All ranges of a policy. Those of a stored policy stay accepted, wherever an update puts them. */
const rangesOf = (spec: ValueObject): string[] =>
  DIRECTIONS.flatMap(({ rules, peers }) =>
    objectsAt(spec, rules)
      .flatMap(rule => objectsAt(rule, peers))
      .map(peer => objectAt(peer, 'ipBlock'))
      .flatMap(block => [[stringAt(block, 'cidr')], stringsAt(block, 'except')].flat()),
  )

const selector = (name: string): Rule => optional(name, [check((object, path) => checkLabelSelector(object, path))])

const checkBlock =
  (accepted: ReadonlySet<string>) =>
  (block: ValueObject, path: string): FieldError[] => {
    const cidr = stringAt(block, 'cidr')
    const cidrPath = childPath(path, 'cidr')
    if (cidr === '') return [fieldRequired(cidrPath)]
    const errors = checkCidr(cidr, cidrPath, accepted)
    const range = parseCidr(cidr)
    if (range === undefined) return errors
    stringsAt(block, 'except').forEach((except, i) => {
      const at = indexPath(childPath(path, 'except'), i)
      errors.push(...checkCidr(except, at, accepted))
      const part = parseCidr(except)
      if (part !== undefined && !isStrictlyWithin(part, range)) {
        errors.push(fieldInvalid(at, except, 'must be a strict subset of `cidr`'))
      }
    })
    return errors
  }

const oneKindOfPeer = check((peer, path) => {
  const hasBlock = objectOrNone(peer, 'ipBlock') !== undefined
  const hasSelector = has(peer, 'podSelector') || has(peer, 'namespaceSelector')
  if (!hasBlock && !hasSelector) return [fieldRequired(path, 'must specify a peer')]
  return hasBlock && hasSelector ? [fieldForbidden(path, 'may not specify both ipBlock and another peer')] : []
})

// ---- the spec

const POLICY_TYPES = ['Ingress', 'Egress']

const policyTypes = check((spec, path) => {
  const types = stringsAt(spec, 'policyTypes')
  const at = childPath(path, 'policyTypes')
  if (types.length > POLICY_TYPES.length) {
    return [fieldInvalid(at, [...types], 'may not specify more than two policyTypes')]
  }
  return types.flatMap((type, i) =>
    POLICY_TYPES.includes(type) ? [] : [fieldNotSupported(indexPath(at, i), type, POLICY_TYPES)],
  )
})

const rulesWith = (accepted: ReadonlySet<string>): readonly Rule[] => [
  field('podSelector', [check((object, path) => checkLabelSelector(object, path))]),
  ...DIRECTIONS.map(({ rules, peers }) =>
    each(rules, [
      each('ports', [protocol, portRange]),
      each(peers, [
        selector('podSelector'),
        selector('namespaceSelector'),
        optional('ipBlock', [check(checkBlock(accepted))]),
        oneKindOfPeer,
      ]),
    ]),
  ),
  policyTypes,
]

const NEW_POLICY = field('spec', rulesWith(new Set()))

const spec: Rule = (policy, old, path, errors) => {
  const rules = old === undefined ? NEW_POLICY : field('spec', rulesWith(new Set(rangesOf(objectAt(old, 'spec')))))
  rules(policy, old, path, errors)
}

// ---- warnings

const warnings: Warnings = policy =>
  DIRECTIONS.flatMap(({ rules, peers }) =>
    objectsAt(objectAt(policy, 'spec'), rules).flatMap((rule, i) =>
      objectsAt(rule, peers).flatMap((peer, j) =>
        blockWarnings(objectAt(peer, 'ipBlock'), `spec.${rules}[${i}].${peers}[${j}].ipBlock`),
      ),
    ),
  )

const blockWarnings = (block: ValueObject, path: string): string[] => [
  ...cidrWarnings(stringAt(block, 'cidr'), `${path}.cidr`),
  ...stringsAt(block, 'except').flatMap((range, i) => cidrWarnings(range, indexPath(`${path}.except`, i))),
]

export const networkPolicy = defineKind('networking.k8s.io/v1', 'NetworkPolicy', {
  defaults,
  strategy: {
    prepareForCreate: startGeneration,
    prepareForUpdate: inTurn(keepGeneration, countExactChanges('spec')),
  },
  validation: validationRules({
    create: [metadata({ namespaced: true }), spec],
    update: [metadataUpdate, spec],
  }),
  warnings,
  table: (policy, now) => [nameOf(policy), selectorCell(objectAt(policy, 'spec'), 'podSelector'), ageOf(policy, now)],
})
