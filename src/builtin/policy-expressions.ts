// The expressions of one admission policy, compiled: when the policy is written, to report errors, and when it is
// loaded for admission. Each variable may use the variables before it, and all other expressions may use all of them.

import { type CelType, compile, type Environment, extendEnvironment, type ObjectTypes, types } from '../cel/index.js'
import {
  type AdmissionProgram,
  admissionEnvironment,
  compileAdmission,
  type KnownTypes,
  typedEnvironment,
} from './admission-expressions.js'
import { ESCAPE_KEY, JSON_PATCHES, PATCH_OBJECT, PATCH_OBJECT_TYPES } from './patch-expressions.js'

const { ANY, BOOL, DYN, NULL, STRING, listOf, mapOf, objectType } = types

/** The type of `variables`, whose fields are the variables of the policy. */
export const VARIABLES_TYPE: CelType = objectType('kubernetes.variables')

export interface PolicyCompilerOptions {
  /** The policy has a paramKind. */
  readonly params: boolean
  /** Whether `variables` is declared. A policy without variables cannot refer to it. */
  readonly variables: boolean
}

/** Compiles the expressions of one policy. It has state: a variable is known after `variable` was called for it. */
export interface PolicyCompiler {
  /** What validations may refer to. */
  readonly environment: Environment
  variable(name: string, expression: string): AdmissionProgram
  matchCondition(expression: string): AdmissionProgram
  validation(expression: string): AdmissionProgram
  /** A message is made without `authorizer`. */
  message(expression: string): AdmissionProgram
  annotation(expression: string): AdmissionProgram
  /** Evaluates to an Object that is merged into the object of the request. */
  applyConfiguration(expression: string): AdmissionProgram
  /** Evaluates to a list of JSONPatch. */
  jsonPatch(expression: string): AdmissionProgram
}

export function createPolicyCompiler({ params, variables }: PolicyCompilerOptions): PolicyCompiler {
  const declared = new Map<string, CelType>()
  const withVariables = (environment: Environment): Environment =>
    variables ? declareVariables(environment, declared) : environment
  const full = withVariables(admissionEnvironment({ params, authorizer: true }))
  const withoutAuthorizer = withVariables(admissionEnvironment({ params }))
  let patching: Environment | undefined
  const patchEnvironment = (): Environment => (patching ??= withPatches(full))
  return {
    environment: full,
    variable(name, expression) {
      const compiled = compileAdmission(expression, full, [ANY])
      declared.set(name, compiled.ok ? declaredType(compiled.program.type) : DYN)
      return compiled
    },
    matchCondition: expression => compileAdmission(expression, full, [BOOL]),
    validation: expression => compileAdmission(expression, full, [BOOL]),
    message: expression => compileAdmission(expression, withoutAuthorizer, [STRING]),
    annotation: expression => compileAdmission(expression, full, [STRING, NULL]),
    applyConfiguration: expression => compileAdmission(expression, patchEnvironment(), [PATCH_OBJECT]),
    jsonPatch: expression => compileAdmission(expression, patchEnvironment(), [JSON_PATCHES]),
  }
}

/** The environment with `variables`, whose fields are looked up when an expression is compiled. */
function declareVariables(environment: Environment, declared: ReadonlyMap<string, CelType>): Environment {
  const { objectTypes } = environment
  return extendEnvironment(environment, {
    variables: { variables: VARIABLES_TYPE },
    objectTypes: {
      ...objectTypes,
      has: name => name === VARIABLES_TYPE.name || objectTypes.has(name),
      field: (type, field) => (type === VARIABLES_TYPE.name ? declared.get(field) : objectTypes.field(type, field)),
    },
  })
}

/** Checks the types of the expressions of a policy for one kind of objects. */
export interface TypeChecker {
  variable(name: string, expression: string): void
  /** What is wrong; undefined if nothing is. */
  check(expression: string): string | undefined
}

export function createTypeChecker(known: KnownTypes): TypeChecker {
  const declared = new Map<string, CelType>()
  const environment = declareVariables(typedEnvironment(known), declared)
  return {
    variable(name, expression) {
      const compiled = compileAdmission(expression, environment, [ANY])
      declared.set(name, compiled.ok ? declaredType(compiled.program.type) : DYN)
    },
    check(expression) {
      const compiled = compile(expression, environment)
      return compiled.ok || compiled.stage === 'program' ? undefined : compiled.message
    },
  }
}

/** The environment with the types of patches. */
function withPatches(environment: Environment): Environment {
  const { functions, objectTypes } = environment
  const typesOf = (name: string): ObjectTypes => (PATCH_OBJECT_TYPES.has(name) ? PATCH_OBJECT_TYPES : objectTypes)
  return {
    ...environment,
    functions: new Map([...functions, [ESCAPE_KEY.name, ESCAPE_KEY]]),
    objectTypes: {
      has: name => typesOf(name).has(name),
      field: (type, field) => typesOf(type).field(type, field),
      create: PATCH_OBJECT_TYPES.create!,
    },
  }
}

/** Scalars, lists and maps keep their types; everything else is declared as dyn. */
function declaredType(type: CelType): CelType {
  const { kind, params } = type
  if (kind === 'list') return listOf(declaredType(params[0]!))
  if (kind === 'map') return mapOf(declaredType(params[0]!), declaredType(params[1]!))
  return SCALARS.has(kind) && type.nullable !== true ? type : DYN
}

const SCALARS: ReadonlySet<string> = new Set([
  'any',
  'bool',
  'bytes',
  'double',
  'duration',
  'int',
  'null',
  'string',
  'timestamp',
  'uint',
])
