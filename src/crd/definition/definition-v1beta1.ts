// CustomResourceDefinition v1beta1, and its conversion to v1 and back. v1beta1 has once, at the top, what all versions
// have in common: a schema (`validation`), subresources, columns; v1 has it in each version. It keeps unknown fields
// unless preserveUnknownFields is false, and the fields of its webhook are in the conversion itself. Definitions are
// stored and worked with as v1; this is the only place that knows of the older form.

import { type FieldError, fieldForbidden, fieldInvalid } from '../../meta/errors/field-errors.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import type { ConversionSpec, DefinitionSpec, VersionSpec } from '../definition.js'
import { defaultNames, defaultWebhookPort } from './definition-defaults.js'
import { describeVersions, sharedParts } from './shared-parts.js'

export const V1 = 'apiextensions.k8s.io/v1'
export const V1BETA1 = 'apiextensions.k8s.io/v1beta1'

/** The parts that are at the top or in each version, by their names in both places. */
const PARTS = [
  ['validation', 'schema'],
  ['subresources', 'subresources'],
  ['additionalPrinterColumns', 'additionalPrinterColumns'],
  ['selectableFields', 'selectableFields'],
] as const

/** A definition in either form as the other one has it; the object is left as it was. */
export function convertDefinition(definition: ApiObject, to: string): ApiObject {
  if (definition.apiVersion === to || !isObject(definition['spec'])) return { ...definition, apiVersion: to }
  const spec = to === V1 ? toV1(definition['spec']) : toV1beta1(definition['spec'] as unknown as DefinitionSpec)
  const { apiVersion: _, kind, metadata, spec: __, ...rest } = definition
  return { apiVersion: to, kind, metadata, spec, ...rest }
}

// ---- to v1

function toV1(spec: ValueObject): ValueObject {
  const { group, names, scope, version, versions, conversion, preserveUnknownFields } = spec
  const written = Array.isArray(versions) ? (versions as ValueObject[]) : []
  const only = typeof version === 'string' && version !== '' ? [{ name: version, served: true, storage: true }] : []
  return {
    ...(group !== undefined && { group }),
    ...(names !== undefined && { names }),
    ...(scope !== undefined && { scope }),
    versions: (written.length > 0 ? written : only).map(each => versionToV1(spec, each)),
    ...(isObject(conversion) && { conversion: conversionToV1(conversion) }),
    ...(preserveUnknownFields === true && { preserveUnknownFields }),
  }
}

function versionToV1(top: ValueObject, written: ValueObject): ValueObject {
  const version = { ...written }
  for (const [above, own] of PARTS) if (isGiven(top[above]) && !isGiven(version[own])) version[own] = top[above]!
  const columns = version['additionalPrinterColumns']
  if (!Array.isArray(columns)) return version
  return { ...version, additionalPrinterColumns: columns.map(column => renamed(column, 'JSONPath', 'jsonPath')) }
}

function conversionToV1({ strategy, webhookClientConfig, conversionReviewVersions }: ValueObject): ValueObject {
  const hasWebhook = webhookClientConfig !== undefined || isGiven(conversionReviewVersions)
  const webhook = {
    ...(webhookClientConfig !== undefined && { clientConfig: webhookClientConfig }),
    conversionReviewVersions: conversionReviewVersions ?? null,
  }
  return { strategy: strategy ?? '', ...(hasWebhook && { webhook }) }
}

// ---- to v1beta1

/** Parts that are equal in all versions are at the top. */
function toV1beta1(spec: DefinitionSpec): ValueObject {
  const versions = spec.versions ?? []
  const { shared, own } = sharedParts(versions)
  const { group, names, scope, conversion, preserveUnknownFields = false } = spec
  const top = columnsToV1beta1(shared)
  const parts = PARTS.flatMap(([above, name]) => (isGiven(top[name]) ? [[above, top[name]!] as const] : []))
  return {
    group,
    ...(versions[0] && { version: versions[0].name }),
    names: names as unknown as Value,
    scope,
    ...Object.fromEntries(parts),
    versions: versions.map((version, i) => versionToV1beta1(version, columnsToV1beta1(own[i]!))),
    ...(conversion && { conversion: conversionToV1beta1(conversion) }),
    preserveUnknownFields,
  }
}

function versionToV1beta1(version: VersionSpec, own: ValueObject): ValueObject {
  const { schema: _, subresources: __, additionalPrinterColumns: ___, selectableFields: ____, ...rest } = version
  return { ...(rest as unknown as ValueObject), ...own }
}

function columnsToV1beta1(parts: object): ValueObject {
  const { additionalPrinterColumns: columns, ...others } = parts as ValueObject
  if (!Array.isArray(columns)) return others
  return { ...others, additionalPrinterColumns: columns.map(column => renamed(column, 'jsonPath', 'JSONPath')) }
}

function conversionToV1beta1({ strategy, webhook }: ConversionSpec): ValueObject {
  const { clientConfig, conversionReviewVersions } = webhook ?? {}
  return {
    strategy,
    ...(clientConfig && { webhookClientConfig: clientConfig as unknown as Value }),
    ...(conversionReviewVersions && { conversionReviewVersions: [...conversionReviewVersions] }),
  }
}

const isGiven = (part: unknown): boolean =>
  part !== undefined && part !== null && !(Array.isArray(part) && part.length === 0)

function renamed(column: Value, from: string, to: string): Value {
  if (!isObject(column)) return column
  const { [from]: path, ...rest } = column
  return { ...rest, ...(path !== undefined && { [to]: path }) }
}

// ---- what a definition in the older form need not say, and may not say

/** Changes the definition in place. */
export function defaultOldDefinition(definition: ApiObject): ApiObject {
  const spec = definition['spec']
  if (!isObject(spec)) return definition
  if (!spec['scope']) spec['scope'] = 'Namespaced'
  if (isObject(spec['names'])) spec['names'] = defaultNames(spec['names'])
  const versions = Array.isArray(spec['versions']) ? spec['versions'] : []
  if (versions.length === 0 && spec['version']) {
    spec['versions'] = [{ name: spec['version'], served: true, storage: true }]
  } else if (!spec['version'] && isObject(versions[0])) {
    spec['version'] = versions[0]['name'] ?? ''
  }
  if (!isObject(spec['conversion'])) spec['conversion'] = { strategy: 'None' }
  const { conversion } = spec
  if (conversion['strategy'] === 'Webhook' && !isGiven(conversion['conversionReviewVersions'])) {
    conversion['conversionReviewVersions'] = ['v1beta1']
  }
  defaultWebhookPort(conversion['webhookClientConfig'])
  spec['preserveUnknownFields'] ??= true
  return definition
}

/** What is wrong with the form alone: the rest is checked as v1. */
export function checkOldForm(definition: ApiObject): FieldError[] {
  const spec = definition['spec'] as ValueObject
  const versions = (spec['versions'] ?? []) as unknown as VersionSpec[]
  const errors: FieldError[] = []
  for (const [above, own] of PARTS.slice(0, 3)) {
    const given = versions.filter(version => isGiven(version[own])).length
    const what = own === 'schema' ? 'schemas' : own
    if (isGiven(spec[above]) && given > 0) {
      errors.push(fieldForbidden(`spec.${above}`, `top-level and per-version ${what} are mutually exclusive`))
    }
    if (given > 0 && sharedParts(versions).shared[own] !== undefined) {
      const why = `per-version ${what} may not all be set to identical values (top-level ${above} should be used instead)`
      const alone = { shared: {}, own: versions }
      errors.push(fieldInvalid('spec.versions', describeVersions(versions, alone), why))
    }
  }
  const first = versions[0]?.name
  if (spec['version'] && first !== undefined && spec['version'] !== first) {
    errors.push(fieldInvalid('spec.version', spec['version'], 'must match the first version in spec.versions'))
  }
  return errors
}
