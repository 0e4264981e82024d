// The expressions of admission: match conditions of webhooks, and all expressions of policies. Here is what they may
// refer to, and how they are compiled, because both the validation of configurations and admission need that.

import {
  AUTHORIZER,
  type CelType,
  compile,
  createEnvironment,
  type Environment,
  type ObjectTypes,
  type Program,
  RESOURCE_CHECK,
  RULE_ENVIRONMENT,
  runtimeTypeName,
  types,
} from '../cel/index.js'
import { type Declarations, DYNAMIC_JSON } from '../types/cel-types.js'

export interface AdmissionVariables {
  /** `params`, for policies with a paramKind. */
  readonly params?: boolean | undefined
  /** `authorizer` and `authorizer.requestResource`. */
  readonly authorizer?: boolean | undefined
}

const { BOOL, DYN, INT, STRING, TIMESTAMP, listOf, mapOf, objectType } = types

const STRINGS = listOf(STRING)
const GROUP_VERSION_KIND = { group: STRING, version: STRING, kind: STRING }
const GROUP_VERSION_RESOURCE = { group: STRING, version: STRING, resource: STRING }

/** The object types, each with its fields. Namespaces have only the fields that expressions may read. */
const OBJECT_TYPES: Readonly<Record<string, Readonly<Record<string, CelType>>>> = {
  'kubernetes.GroupVersionKind': GROUP_VERSION_KIND,
  'kubernetes.GroupVersionResource': GROUP_VERSION_RESOURCE,
  'kubernetes.UserInfo': { username: STRING, uid: STRING, groups: STRINGS, extra: mapOf(STRING, STRINGS) },
  'kubernetes.AdmissionRequest': {
    kind: objectType('kubernetes.GroupVersionKind'),
    resource: objectType('kubernetes.GroupVersionResource'),
    subResource: STRING,
    requestKind: objectType('kubernetes.GroupVersionKind'),
    requestResource: objectType('kubernetes.GroupVersionResource'),
    requestSubResource: STRING,
    name: STRING,
    namespace: STRING,
    operation: STRING,
    userInfo: objectType('kubernetes.UserInfo'),
    dryRun: BOOL,
    options: DYN,
  },
  'kubernetes.NamespaceSpec': { finalizers: STRINGS },
  'kubernetes.NamespaceCondition': {
    status: STRING,
    type: STRING,
    lastTransitionTime: TIMESTAMP,
    message: STRING,
    reason: STRING,
  },
  'kubernetes.NamespaceStatus': { conditions: listOf(objectType('kubernetes.NamespaceCondition')), phase: STRING },
  'kubernetes.NamespaceMetadata': {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: mapOf(STRING, STRING),
    annotations: mapOf(STRING, STRING),
    UID: STRING,
    creationTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: STRINGS,
  },
  'kubernetes.Namespace': {
    metadata: objectType('kubernetes.NamespaceMetadata'),
    spec: objectType('kubernetes.NamespaceSpec'),
    status: objectType('kubernetes.NamespaceStatus'),
  },
}

export const ADMISSION_OBJECT_TYPES: ObjectTypes = {
  has: name => Object.hasOwn(OBJECT_TYPES, name),
  field(type, field) {
    const fields = Object.hasOwn(OBJECT_TYPES, type) ? OBJECT_TYPES[type]! : {}
    return Object.hasOwn(fields, field) ? fields[field] : undefined
  },
}

/** Created once for each set of variables. */
const environments = new Map<string, Environment>()

export function admissionEnvironment({ params = false, authorizer = false }: AdmissionVariables): Environment {
  const key = `${params} ${authorizer}`
  let environment = environments.get(key)
  if (!environment) {
    environment = createEnvironment({
      ...RULE_ENVIRONMENT,
      objectTypes: ADMISSION_OBJECT_TYPES,
      variables: {
        object: DYN,
        oldObject: DYN,
        namespaceObject: objectType('kubernetes.Namespace'),
        request: objectType('kubernetes.AdmissionRequest'),
        ...(params && { params: DYN }),
        ...(authorizer && { authorizer: AUTHORIZER, 'authorizer.requestResource': RESOURCE_CHECK }),
      },
      layouts: { object: DYNAMIC_JSON, oldObject: DYNAMIC_JSON, params: DYNAMIC_JSON, request: DYNAMIC_JSON },
    })
    environments.set(key, environment)
  }
  return environment
}

/** The types of what a policy sees, as far as they are known. */
export interface KnownTypes {
  readonly object: Declarations | undefined
  /** `none` if the policy has no parameters. */
  readonly params: Declarations | undefined | 'none'
}

/** The environment in which the types of expressions are checked. As in kube-apiserver, it has no `requestResource`. */
export function typedEnvironment({ object, params }: KnownTypes): Environment {
  const declared = [object, params === 'none' ? undefined : params].flatMap(each => (each ? [each.objectTypes] : []))
  const all = [ADMISSION_OBJECT_TYPES, ...declared]
  const typeOfObject = object?.root.celType ?? DYN
  return createEnvironment({
    ...RULE_ENVIRONMENT,
    objectTypes: {
      has: name => all.some(each => each.has(name)),
      field: (type, field) => all.find(each => each.has(type))?.field(type, field),
    },
    variables: {
      object: typeOfObject,
      oldObject: typeOfObject,
      namespaceObject: objectType('kubernetes.Namespace'),
      request: objectType('kubernetes.AdmissionRequest'),
      ...(params !== 'none' && { params: params?.root.celType ?? DYN }),
      authorizer: AUTHORIZER,
    },
  })
}

export type AdmissionProgram =
  | { readonly ok: true; readonly program: Program }
  /** `internal`: the error is a 500 and not of the author. */
  | { readonly ok: false; readonly error: string; readonly internal: boolean }

/** Compiles an expression that must have one of these types. */
export function compileAdmission(
  text: string,
  environment: Environment,
  resultTypes: readonly CelType[],
): AdmissionProgram {
  const compiled = compile(text, environment)
  if (!compiled.ok && compiled.stage !== 'program') {
    return { ok: false, error: `compilation failed: ${compiled.message}`, internal: false }
  }
  const type = compiled.ok ? compiled.program.type : compiled.checked?.type
  const found = type === undefined ? '' : runtimeTypeName(type)
  const wanted = resultTypes.map(runtimeTypeName)
  if (type !== undefined && !wanted.includes(found) && !resultTypes.some(({ kind }) => kind === 'any')) {
    const one = wanted.length === 1 ? wanted[0] : `one of [${wanted.join(' ')}]`
    return { ok: false, error: `must evaluate to ${one} but got ${found}`, internal: false }
  }
  return compiled.ok
    ? { ok: true, program: compiled.program }
    : { ok: false, error: `program instantiation failed: ${compiled.message}`, internal: true }
}

/** Compiles a match condition, which is a bool. */
export const compileMatchCondition = (text: string, variables: AdmissionVariables): AdmissionProgram =>
  compileAdmission(text, admissionEnvironment(variables), [BOOL])
