// The check of a schema when its definition is written: every rule that kube-apiserver has, at the same fields and with
// the same messages.
import { regexErrorOf } from '../../base/regex-cache.js'
import { limitErrors } from '../../meta/errors/error-limit.js'
import { childPath, type FieldError, fieldForbidden, fieldInvalid } from '../../meta/errors/field-errors.js'
import { quote } from '../../meta/go/go-text.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { checkRules } from '../rules/check-rules.js'
import { compileRules } from '../rules/compile-rules.js'
import { defaultEvaluator } from '../rules/evaluate-rules.js'
import { RuleCompiler } from '../rules/rule-compiler.js'
import {
  EMPTY_SCHEMA,
  MAX_SCHEMA_DEPTH,
  parseUnlessTooDeep,
  type Schema,
  writtenChildren,
} from '../structure/structural.js'
import { isKnownFormat } from '../validate/formats.js'
import { checkDefaults } from './defaults.js'
import { checkKeywords } from './keywords.js'
import { checkStatusRoot } from './status-root.js'
import { checkCompleteness, checkStructure } from './structure.js'

export interface SchemaCheckOptions {
  /** The version has a status subresource, so that the status must be separable from the rest. */
  readonly hasStatus?: boolean
  /** The schema need not be structural, as v1beta1 allows. Then it is used for validation only. */
  readonly mayBeUnstructured?: boolean
  /** Why all defaults are refused; empty if they are not. */
  readonly noDefaults?: string
  /** The version had this very schema before. */
  readonly isUnchanged?: boolean
  /** Compiles the rules of the schema. */
  readonly ruleCompiler?: RuleCompiler
}

export interface CheckedSchema {
  readonly errors: readonly FieldError[]
  /** For the client, if the definition is accepted. */
  readonly warnings: readonly string[]
}

/** `at` is the field of the schema: `spec.validation.openAPIV3Schema`, `spec.versions[1].schema.openAPIV3Schema`. */
export function checkSchema(written: Value, at: string, options: SchemaCheckOptions = {}): CheckedSchema {
  const compiler = options.ruleCompiler ?? new RuleCompiler()
  const prepared = compiler.takePrepared(written)
  const schema = prepared?.schema ?? parseUnlessTooDeep(written)
  if (!schema) {
    const why = `must not be nested more than ${MAX_SCHEMA_DEPTH} schemas deep`
    return { errors: [fieldInvalid(at, '', why)], warnings: [] }
  }
  const keywords = checkKeywords(schema, at, options.noDefaults)
  const errors = [
    ...(options.hasStatus === true ? checkStatusRoot(written, schema, at) : []),
    ...(schema.nullable ? [fieldForbidden(childPath(at, 'nullable'), 'nullable cannot be true at the root')] : []),
    ...keywords.errors,
  ]
  const { unfit, warnings } = survey(schema)
  if (options.mayBeUnstructured === true) return { errors, warnings }
  if (unfit === undefined) {
    const structural = [...checkStructure(schema, at), ...checkCompleteness(schema, at)]
    // Defaults are checked in structural schemas only, and rules only if all defaults are valid.
    const rules = structural.length > 0 ? undefined : (prepared ?? compileRules(schema, compiler))
    const defaults = structural.length > 0 ? [] : checkDefaults(schema, at, rules && defaultEvaluator(rules))
    errors.push(...structural, ...defaults)
    if (rules !== undefined && defaults.length === 0) {
      errors.push(...checkRules(rules, at, { skip: keywords.hasErrors, isUnchanged: options.isUnchanged ?? false }))
    }
  } else if (errors.length === 0) {
    // Other keywords that are not supported have been refused already.
    errors.push(fieldInvalid(at, '', `OpenAPIV3Schema '${unfit}' is not supported`))
  }
  return { errors, warnings }
}

const PIECE = 1_000

/**
 * Compiles the patterns of a schema, in pieces: all of them together may take long. The check then knows those that are
 * right.
 */
export function* preparePatterns(written: Value): Generator<void> {
  const open: ValueObject[] = isObject(written) ? [written] : []
  let others = 0
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    const { pattern } = schema
    for (const child of writtenChildren(schema)) open.push(child)
    if (typeof pattern === 'string' && pattern !== '') regexErrorOf(pattern)
    // The schemas without a pattern take no time to speak of.
    else if (++others % PIECE !== 0) continue
    yield
  }
}

/** Fewer rules than these are compiled by the check itself. */
const MANY_RULES = 100

/** Compiles the rules of a schema that has many, likewise, unless the schema has errors for which no rule is looked at. */
export function* prepareRules(written: Value, compiler: RuleCompiler): Generator<void> {
  if (!isObject(written) || countRules(written) < MANY_RULES) return
  const schema = parseUnlessTooDeep(written)
  if (!schema || survey(schema).unfit !== undefined) return
  if (limitErrors(() => [...checkStructure(schema, ''), ...checkCompleteness(schema, '')]).length > 0) return
  const rules = compileRules(schema, compiler)
  if (!rules) return
  yield* rules.prepare()
  compiler.keepPrepared(written, rules)
}

function countRules(written: ValueObject): number {
  let count = 0
  const open = [written]
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    const rules = schema['x-kubernetes-validations']
    if (Array.isArray(rules)) count += rules.length
    for (const child of writtenChildren(schema)) open.push(child)
  }
  return count
}

/** Why a schema that was accepted is not structural. */
export function structuralErrors(written: Value, at: string): readonly FieldError[] {
  const schema = parseUnlessTooDeep(written)
  if (!schema) return []
  return [...checkStructure(schema, at), ...checkCompleteness(schema, at)]
}

/** A warning for each format in a schema that is not known. */
export function formatWarnings(written: Value | undefined): readonly string[] {
  const schema = written === undefined ? undefined : parseUnlessTooDeep(written)
  return schema ? survey(schema).warnings : []
}

/** A keyword that no structural schema can have; the schema is then not checked any further. */
function unfitKeyword({ refused, extensions }: Schema): string | undefined {
  if (extensions.preserveUnknownFields === false) return 'x-kubernetes-preserve-unknown-fields'
  if (refused.metaSchema !== '') return 'schema'
  if (refused.id !== '') return 'id'
  if (refused.ref) return '$ref'
  if (refused.additionalItems) return 'additionalItems'
  if (refused.itemList.length > 0) return 'items'
  if (refused.patternProperties) return 'patternProperties'
  if (refused.definitions.size > 0) return 'definitions'
  return refused.dependencies === undefined || refused.dependencies.size === 0 ? undefined : 'dependencies'
}

interface Survey {
  readonly unfit: string | undefined
  readonly warnings: readonly string[]
}

/** What concerns all nodes together. An unknown format is one warning, however often it occurs. */
function survey(root: Schema): Survey {
  let unfit: string | undefined
  const unknown = new Set<string>()
  const visit = (schema: Schema): void => {
    const { type, checks, items, additionalProperties, properties } = schema
    unfit ??= unfitKeyword(schema)
    if (checks.format !== '' && !isKnownFormat(type, checks.format)) unknown.add(checks.format)
    for (const property of properties.values()) visit(property)
    if (items !== undefined) visit(items)
    if (typeof additionalProperties === 'object') visit(additionalProperties)
    for (const branches of [checks.allOf, checks.anyOf, checks.oneOf]) {
      for (const branch of branches) if (branch !== EMPTY_SCHEMA) visit(branch)
    }
    if (checks.not !== undefined) visit(checks.not)
  }
  visit(root)
  return { unfit, warnings: [...unknown].map(format => `unrecognized format ${quote(format)}`) }
}
