// The functions of authorizers. A host that declares a variable of the type AUTHORIZER gives it an `AuthorizerValue`.
// Rules have no such variable, but the names are taken there too, which shows in the messages about them.
import { CelError } from '../cel-error.js'
import { BOOL, type CelType, objectType, STRING } from '../check/cel-type.js'
import { fixed } from '../cost/cost-intervals.js'
import type { FunctionDeclaration, Implementation, Library } from '../environment.js'
import { ObjectValue, type Value } from '../values/values.js'

const type = (name: string): CelType => objectType(`kubernetes.authorization.${name}`)
export const AUTHORIZER = type('Authorizer')
export const RESOURCE_CHECK = type('ResourceCheck')
const PATH_CHECK = type('PathCheck')
const GROUP_CHECK = type('GroupCheck')
const DECISION = type('Decision')

/** What a host answers to the checks of one user. */
export interface AuthorizerHost {
  checkPath(path: string, verb: string): AuthorizerDecision
  checkResource(check: ResourceAttributes, verb: string): AuthorizerDecision
  /** The checks of a service account; a text is the error. */
  serviceAccount(namespace: string, name: string): AuthorizerHost | string
}

export interface AuthorizerDecision {
  readonly allowed: boolean
  readonly reason: string
  /** What went wrong while it was decided. */
  readonly error?: string | undefined
}

export interface ResourceAttributes {
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly fieldSelector: string
  readonly labelSelector: string
}

/** Values that expressions only call functions on. */
abstract class Receiver extends ObjectValue {
  get(): undefined {
    return undefined
  }
  equals(other: Value): boolean {
    return this === other
  }
}

export class AuthorizerValue extends Receiver {
  readonly type = AUTHORIZER
  constructor(readonly host: AuthorizerHost) {
    super()
  }
}

class PathCheck extends Receiver {
  readonly type = PATH_CHECK
  constructor(
    readonly host: AuthorizerHost,
    readonly path: string,
  ) {
    super()
  }
}

class GroupCheck extends Receiver {
  readonly type = GROUP_CHECK
  constructor(
    readonly host: AuthorizerHost,
    readonly group: string,
  ) {
    super()
  }
}

export class ResourceCheck extends Receiver {
  readonly type = RESOURCE_CHECK
  constructor(
    readonly host: AuthorizerHost,
    readonly attributes: ResourceAttributes,
  ) {
    super()
  }
}

class Decision extends Receiver {
  readonly type = DECISION
  constructor(readonly decision: AuthorizerDecision) {
    super()
  }
}

// ---- functions

const path = ({ host }: AuthorizerValue, text: string): Value =>
  text.trim() === '' ? new CelError('path must not be empty') : new PathCheck(host, text)

function serviceAccount({ host }: AuthorizerValue, namespace: string, name: string): Value {
  const account = host.serviceAccount(namespace, name)
  return typeof account === 'string' ? new CelError(account) : new AuthorizerValue(account)
}

function resource({ host, group }: GroupCheck, name: string): Value {
  if (name.trim() === '') return new CelError('resource must not be empty')
  return new ResourceCheck(host, {
    group,
    resource: name,
    subresource: '',
    namespace: '',
    name: '',
    fieldSelector: '',
    labelSelector: '',
  })
}

const setting =
  (member: keyof ResourceAttributes) =>
  ({ host, attributes }: ResourceCheck, text: string): Value =>
    new ResourceCheck(host, { ...attributes, [member]: text })

/** So much that a rule affords two. */
const CHECK_COST = 350_000
const CHECK = { cost: () => CHECK_COST, estimate: () => ({ cost: fixed(CHECK_COST) }) }

type Signature = readonly [id: string, call: (...args: never[]) => Value, result: CelType, ...params: CelType[]]

const declare = (name: string, ...signatures: readonly Signature[]): FunctionDeclaration => ({
  name,
  overloads: signatures.map(([id, call, result, ...params]) =>
    Object.assign({ id, member: true, params, result, call: call as Implementation }, name === 'check' ? CHECK : {}),
  ),
})

export const AUTHORIZER_LIBRARY: Library = {
  functions: [
    declare('path', ['authorizer_path', path, PATH_CHECK, AUTHORIZER, STRING]),
    declare('group', [
      'authorizer_group',
      ({ host }: AuthorizerValue, group: string) => new GroupCheck(host, group),
      GROUP_CHECK,
      AUTHORIZER,
      STRING,
    ]),
    declare('serviceAccount', ['authorizer_serviceaccount', serviceAccount, AUTHORIZER, AUTHORIZER, STRING, STRING]),
    declare('resource', ['groupcheck_resource', resource, RESOURCE_CHECK, GROUP_CHECK, STRING]),
    declare('subresource', [
      'resourcecheck_subresource',
      setting('subresource'),
      RESOURCE_CHECK,
      RESOURCE_CHECK,
      STRING,
    ]),
    declare('namespace', ['resourcecheck_namespace', setting('namespace'), RESOURCE_CHECK, RESOURCE_CHECK, STRING]),
    declare('name', ['resourcecheck_name', setting('name'), RESOURCE_CHECK, RESOURCE_CHECK, STRING]),
    declare('fieldSelector', [
      'authorizer_fieldselector',
      setting('fieldSelector'),
      RESOURCE_CHECK,
      RESOURCE_CHECK,
      STRING,
    ]),
    declare('labelSelector', [
      'authorizer_labelselector',
      setting('labelSelector'),
      RESOURCE_CHECK,
      RESOURCE_CHECK,
      STRING,
    ]),
    declare(
      'check',
      [
        'pathcheck_check',
        (check: PathCheck, verb: string) => new Decision(check.host.checkPath(check.path, verb)),
        DECISION,
        PATH_CHECK,
        STRING,
      ],
      [
        'resourcecheck_check',
        ({ host, attributes }: ResourceCheck, verb: string) => new Decision(host.checkResource(attributes, verb)),
        DECISION,
        RESOURCE_CHECK,
        STRING,
      ],
    ),
    // Decisions are made from memory, so that they never fail.
    declare('errored', ['decision_errored', ({ decision }: Decision) => decision.error !== undefined, BOOL, DECISION]),
    declare('error', ['decision_error', ({ decision }: Decision) => decision.error ?? '', STRING, DECISION]),
    declare('allowed', ['decision_allowed', ({ decision }: Decision) => decision.allowed, BOOL, DECISION]),
    declare('reason', ['decision_reason', ({ decision }: Decision) => decision.reason, STRING, DECISION]),
  ],
}
