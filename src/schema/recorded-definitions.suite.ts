// Compares, for every schema that was sent in a CustomResourceDefinition, what its check finds with what the reference
// server answered. Faults of the expressions in rules are left out.
import { readFileSync } from 'node:fs'
import { decodeJson } from '../codec/json-decode.js'
import { encodeJson } from '../codec/json-encode.js'
import { printField, printFieldErrorBody } from '../meta/field-errors.js'
import { getOwn, isObject, type Value, type ValueObject } from '../meta/value.js'
import { checkSchema } from './check/check-schema.js'
import type { Comparison } from './recorded-objects.suite.js'

export function replayDefinitions(file: string): Comparison[] {
  const path = new URL(`../../test/conformance/recordings/${file}.json`, import.meta.url)
  const { scenarios } = decodeJson(readFileSync(path)).value as { scenarios: { name: string; steps: ValueObject[] }[] }
  return scenarios.flatMap(({ name, steps }) =>
    steps.flatMap((step, i) => {
      const comparison = compare(step, `${name} ${i}`)
      return comparison === undefined ? [] : [comparison]
    }),
  )
}

function compare(step: ValueObject, label: string): Comparison | undefined {
  const body = getOwn(step, 'body')
  const answer = asObject(step['expect'])
  const isCreate = step['method'] === 'POST' && text(step['path']).includes('/v1/customresourcedefinitions')
  if (!isCreate || !isObject(body)) return undefined
  const status = answer['status']
  if (status !== 201 && status !== 422) return undefined
  const versions = getOwn(asObject(body['spec']), 'versions')
  if (!Array.isArray(versions)) return undefined
  const schemas = versions.map(asObject).map(version => ({
    written: getOwn(asObject(version['schema']), 'openAPIV3Schema') ?? null,
    hasStatus: isObject(getOwn(asObject(version['subresources']), 'status')),
  }))
  const texts = new Set(schemas.map(({ written }) => encodeJson(written)))
  const found = (texts.size === 1 ? schemas.slice(0, 1) : schemas).map(({ written, hasStatus }, i) => {
    const at = texts.size === 1 ? 'spec.validation.openAPIV3Schema' : `spec.versions[${i}].schema.openAPIV3Schema`
    return written === null ? { errors: [], warnings: [] } : checkSchema(written, at, { hasStatus })
  })
  const causes = getOwn(asObject(getOwn(asObject(answer['body']), 'details')), 'causes')
  const told = Array.isArray(causes) ? causes.map(asObject) : []
  const recordedWarnings = getOwn(answer, 'warnings')
  return {
    step: label,
    expected: {
      faults: told
        .map(({ reason, field, message }) => `${text(reason)} | ${text(field)} | ${text(message)}`)
        .filter(isOurs)
        .toSorted(),
      warnings: Array.isArray(recordedWarnings) ? recordedWarnings.map(text).filter(isFormatWarning) : [],
    },
    actual: {
      faults: found
        .flatMap(({ errors }) => errors)
        .map(error => `${error.type} | ${printField(error)} | ${printFieldErrorBody(error)}`)
        .filter(isOurs)
        .toSorted(),
      // A definition that is refused is refused without advice.
      warnings: [...new Set(status === 201 ? found.flatMap(({ warnings }) => warnings) : [])].map(
        warning => `299 - "${warning.replaceAll('"', '\\"')}"`,
      ),
    },
  }
}

const isFormatWarning = (warning: string): boolean => warning.includes('unrecognized format')

const isOurs = (cause: string): boolean => cause.includes('openAPIV3Schema') && !OF_EXPRESSIONS.test(cause)

const OF_EXPRESSIONS =
  /openAPIV3Schema \| Required value$|\.rule \| (?:Invalid|Forbidden|Internal)|\.optionalOldSelf \||must be a valid path|messageExpression \| (?:Invalid|Forbidden)|rule cost|failed rule|too small|evaluating rule|oldSelf|x-kubernetes-validations \| (?:Invalid|Forbidden: x-|Internal)|selectableFields|\.default[^|]*\| (?:Invalid value: [0-9]+: (?:not|must be positive)|Forbidden: failed)|no such overload|internal error: failed/

const asObject = (value: Value | undefined): ValueObject => (isObject(value) ? value : {})
const text = (value: Value | undefined): string => (typeof value === 'string' ? value : '')
