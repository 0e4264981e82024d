// The functions of authorizers. Rules have no authorizer to call them on, but their names are taken, which shows in
// what is reported of them.
import { BOOL, type CelType, objectType, STRING } from '../check/cel-type.js'
import { fixed } from '../cost/cost-intervals.js'
import type { FunctionDeclaration, Library } from '../environment.js'

const type = (name: string): CelType => objectType(`kubernetes.authorization.${name}`)
const AUTHORIZER = type('Authorizer')
const PATH = type('PathCheck')
const GROUP = type('GroupCheck')
const RESOURCE = type('ResourceCheck')
const DECISION = type('Decision')

/** So much that a rule affords two. */
const CHECK_COST = 350_000
const CHECK = { cost: () => CHECK_COST, estimate: () => ({ cost: fixed(CHECK_COST) }) }

const declare = (
  name: string,
  ...signatures: readonly (readonly [id: string, result: CelType, ...params: CelType[]])[]
): FunctionDeclaration => ({
  name,
  overloads: signatures.map(([id, result, ...params]) =>
    Object.assign({ id, member: true, params, result }, name === 'check' ? CHECK : {}),
  ),
})

export const AUTHORIZER_LIBRARY: Library = {
  functions: [
    declare('path', ['authorizer_path', PATH, AUTHORIZER, STRING]),
    declare('group', ['authorizer_group', GROUP, AUTHORIZER, STRING]),
    declare('serviceAccount', ['authorizer_serviceaccount', AUTHORIZER, AUTHORIZER, STRING, STRING]),
    declare('resource', ['groupcheck_resource', RESOURCE, GROUP, STRING]),
    declare('subresource', ['resourcecheck_subresource', RESOURCE, RESOURCE, STRING]),
    declare('namespace', ['resourcecheck_namespace', RESOURCE, RESOURCE, STRING]),
    declare('name', ['resourcecheck_name', RESOURCE, RESOURCE, STRING]),
    declare('fieldSelector', ['authorizer_fieldselector', RESOURCE, RESOURCE, STRING]),
    declare('labelSelector', ['authorizer_labelselector', RESOURCE, RESOURCE, STRING]),
    declare('check', ['pathcheck_check', DECISION, PATH, STRING], ['resourcecheck_check', DECISION, RESOURCE, STRING]),
    declare('errored', ['decision_errored', BOOL, DECISION]),
    declare('error', ['decision_error', STRING, DECISION]),
    declare('allowed', ['decision_allowed', BOOL, DECISION]),
    declare('reason', ['decision_reason', STRING, DECISION]),
  ],
}
