// Network policies: which peers may talk to pods, and at which ports.
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
import { has, numberOrNone, objectAt, objectOrNone, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { getOwn, type ValueObject } from '../../meta/values/value.js'
import { checkPortNumber, checkText } from '../common/field-checks.js'
import { checkCidr, isStrictlyWithin, parseCidr } from '../common/ip-rules.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'

const POLICY_TYPES = ['Ingress', 'Egress']
const PROTOCOLS = ['TCP', 'UDP', 'SCTP']

export const networkPolicyValidation: Validation = {
  create: policy => [...checkMeta(policy, { namespaced: true }), ...checkSpec(policy, new Set())],
  update: (policy, old) => [...checkMetaUpdate(policy, old), ...checkSpec(policy, new Set(rangesOf(old)))],
}

/** Where policies name their peers. */
const DIRECTIONS = [
  { rules: 'ingress', peers: 'from' },
  { rules: 'egress', peers: 'to' },
] as const

/** All ranges that a policy speaks of. */
const rangesOf = (policy: ValueObject): string[] =>
  DIRECTIONS.flatMap(({ rules, peers }) =>
    objectsAt(objectAt(policy, 'spec'), rules)
      .flatMap(rule => objectsAt(rule, peers))
      .map(peer => objectAt(peer, 'ipBlock'))
      .flatMap(block => [[stringAt(block, 'cidr')], stringsAt(block, 'except')].flat()),
  )

function checkSpec(policy: ValueObject, accepted: ReadonlySet<string>): FieldError[] {
  const spec = objectAt(policy, 'spec')
  return [
    ...checkLabelSelector(objectAt(spec, 'podSelector'), 'spec.podSelector'),
    ...DIRECTIONS.flatMap(({ rules, peers }) =>
      objectsAt(spec, rules).flatMap((rule, i) => {
        const path = indexPath(`spec.${rules}`, i)
        return [
          objectsAt(rule, 'ports').flatMap((port, j) => checkPort(port, indexPath(`${path}.ports`, j))),
          objectsAt(rule, peers).flatMap((peer, j) => checkPeer(peer, indexPath(`${path}.${peers}`, j), accepted)),
        ].flat()
      }),
    ),
    ...checkPolicyTypes(stringsAt(spec, 'policyTypes'), 'spec.policyTypes'),
  ]
}

function checkPolicyTypes(types: readonly string[], path: string): FieldError[] {
  if (types.length > POLICY_TYPES.length) {
    return [fieldInvalid(path, [...types], 'may not specify more than two policyTypes')]
  }
  return types.flatMap((type, i) =>
    POLICY_TYPES.includes(type) ? [] : [fieldNotSupported(indexPath(path, i), type, POLICY_TYPES)],
  )
}

function checkPort(port: ValueObject, path: string): FieldError[] {
  const at = (field: string): string => childPath(path, field)
  const protocol = stringAt(port, 'protocol')
  const known = !has(port, 'protocol') || PROTOCOLS.includes(protocol)
  return [...(known ? [] : [fieldNotSupported(at('protocol'), protocol, PROTOCOLS)]), ...checkPortRange(port, at)]
}

/** From one port to another; only numbers have others after them. */
function checkPortRange(port: ValueObject, at: (field: string) => string): FieldError[] {
  const number = getOwn(port, 'port')
  const end = numberOrNone(port, 'endPort')
  const alone = (why: string): FieldError[] =>
    end === undefined ? [] : [fieldInvalid(at('endPort'), end, `may not be specified when \`port\` is ${why}`)]
  if (number === undefined || number === null) return alone('not specified')
  if (typeof number === 'string') {
    return [...alone('non-numeric'), ...checkText(number, checkPortName, at('port'))]
  }
  const errors = checkPortNumber(Number(number), at('port'))
  if (end === undefined) return errors
  // It is the port whose value is told.
  if (end < Number(number)) {
    errors.push(fieldInvalid(at('endPort'), Number(number), 'must be greater than or equal to `port`'))
  }
  return [...errors, ...checkPortNumber(end, at('endPort'))]
}

function checkPeer(peer: ValueObject, path: string, accepted: ReadonlySet<string>): FieldError[] {
  const at = (field: string): string => childPath(path, field)
  const selectors = ['podSelector', 'namespaceSelector'].filter(field => has(peer, field))
  const block = objectOrNone(peer, 'ipBlock')
  const errors = selectors.flatMap(field => checkLabelSelector(objectAt(peer, field), at(field)))
  if (block !== undefined) errors.push(...checkBlock(block, at('ipBlock'), accepted))
  if (block === undefined && selectors.length === 0) errors.push(fieldRequired(path, 'must specify a peer'))
  if (block !== undefined && selectors.length > 0) {
    errors.push(fieldForbidden(path, 'may not specify both ipBlock and another peer'))
  }
  return errors
}

/** A range, and parts of it that are not meant. */
function checkBlock(block: ValueObject, path: string, accepted: ReadonlySet<string>): FieldError[] {
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
