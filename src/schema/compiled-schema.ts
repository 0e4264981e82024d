// All that one version of a resource does by its schema, as one value. Nothing is parsed or compiled before it is used,
// and then node by node, so that definitions that are not used cost nothing.
import type { FieldError } from '../meta/errors/field-errors.js'
import { getOwn, type Value, type ValueObject } from '../meta/values/value.js'
import { blocksRules, rulesNotChecked } from './rules/blocking-errors.js'
import { compileRules } from './rules/compile-rules.js'
import { evaluateRules, NO_FINDINGS, type RuleFindings, reachesRules } from './rules/evaluate-rules.js'
import { RuleCompiler } from './rules/rule-compiler.js'
import { type Shaped, STEP, shapeValue } from './shape/shape.js'
import { BELOW, parseSchema, type Schema } from './structure/structural.js'
import { checkEmbedded } from './validate/embedded.js'
import { checkListTypes } from './validate/list-types.js'
import { checkChangedListTypes, validateChange } from './validate/ratchet.js'
import type { Validator } from './validate/run.js'
import { validatorOf } from './validate/validator.js'

export interface CompiledSchema {
  readonly schema: Schema
  /**
   * Brings a decoded object into the shape of the schema, in place: drops unknown fields and nulls that are not
   * allowed, and decodes embedded metadata. Its own apiVersion, kind and metadata are left to the caller.
   */
  shape(object: ValueObject, options?: SchemaShapeOptions): Shaped
  /** Sets defaults, in place. */
  default(object: ValueObject): void
  validate(object: ValueObject): readonly FieldError[]
  validateUpdate(object: ValueObject, old: ValueObject): readonly FieldError[]
  /** The same through the status subresource, which validates only the status. */
  validateStatusUpdate(object: ValueObject, old: ValueObject): readonly FieldError[]
  /**
   * Evaluates the rules of the schema, on an update together with the old object. If the errors of the object are such
   * that rules cannot rely on it, the rules are not evaluated and that is the only error.
   */
  evaluateRules(object: ValueObject, old: ValueObject | undefined, errors: readonly FieldError[]): RuleFindings
}

export interface SchemaShapeOptions {
  /** The object comes from storage: what cannot be decoded is dropped rather than refused. */
  readonly stored?: boolean
  /** Defaults are set too, before the rest. */
  readonly defaults?: boolean
}

export type { Shaped }

/** `written` is the checked schema of the definition, or a function that reads it when it is needed. */
export function compileSchema(
  written: Value | (() => Value),
  ruleCompiler: RuleCompiler = new RuleCompiler(),
): CompiledSchema {
  const schema = lazily(() => parseSchema(typeof written === 'function' ? written() : written))
  const validator = lazily(() => validatorOf(schema()))
  const status = lazily(() => statusOf(schema()))
  const rules = lazily(() => compileRules(schema(), ruleCompiler))
  return {
    get schema() {
      return schema()
    },
    shape: (object, options = {}) => shape(object, schema(), options),
    default(object) {
      if ((schema().below & BELOW.default) === 0) return
      // Defaults may bring metadata of embedded resources that ObjectMeta does not have.
      shapeValue(object, schema(), { steps: STEP.default | STEP.coerce, dropInvalid: true })
    },
    validate: object => [
      ...checkEmbedded(object, schema()),
      ...validateChange(validator(), schema(), object, undefined),
      ...checkListTypes(object, schema()),
    ],
    validateUpdate: (object, old) => [
      ...checkEmbedded(object, schema()),
      ...validateChange(validator(), schema(), object, withoutType(old)),
      ...checkChangedListTypes(schema(), object, old),
    ],
    validateStatusUpdate: (object, old) => [
      ...validateStatus(status(), object, old),
      ...checkChangedListTypes(schema(), object, old),
    ],
    evaluateRules(object, old, errors) {
      const root = rules()
      if (root === undefined) return NO_FINDINGS
      if (!blocksRules(errors)) return evaluateRules(root, object, old)
      return reachesRules(root) ? { errors: [rulesNotChecked()], warnings: [] } : NO_FINDINGS
    },
  }
}

function shape(object: ValueObject, schema: Schema, { stored = false, defaults = false }: SchemaShapeOptions): Shaped {
  const steps = STEP.prune | STEP.dropNulls | STEP.coerce | (defaults ? STEP.default : 0)
  return shapeValue(object, schema, { steps, isResource: true, isDecoded: true, dropInvalid: stored })
}

/** kube-apiserver compares with an old object that has no apiVersion and kind, so that these are never ratcheted. */
function withoutType(old: ValueObject): ValueObject {
  const { apiVersion: _, kind: __, ...rest } = old
  return rest
}

interface StatusPart {
  readonly schema: Schema
  readonly validator: Validator
}

function statusOf(schema: Schema): StatusPart | undefined {
  const status = schema.properties.get('status')
  return status === undefined ? undefined : { schema: status, validator: validatorOf(status) }
}

function validateStatus(status: StatusPart | undefined, object: ValueObject, old: ValueObject): readonly FieldError[] {
  const value = getOwn(object, 'status')
  if (status === undefined || value === undefined) return []
  return validateChange(status.validator, status.schema, value, getOwn(old, 'status'), 'status')
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
