// The kind that a definition defines. Its parts are created when they are first used: of a thousand installed
// definitions, few are used.

import { andThen } from '../base/awaitable.js'
import { type ConvertObjects, renameVersion } from '../convert/conversion.js'
import type { Kind, KindVersion, Traits } from '../kinds/kind.js'
import { internalError } from '../meta/errors/status.js'
import { compareVersions } from '../meta/group-version.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { copyValue, type ValueObject } from '../meta/values/value.js'
import { structuralErrors } from '../schema/check-schema.js'
import { type CompiledSchema, compileSchema } from '../schema/compiled-schema.js'
import { NO_FINDINGS, RuleCompiler } from '../schema/rules.js'
import { structuralType } from '../schema/structural.js'
import type { Type, Types } from '../types/type.js'
import { type DefinitionSpec, isTrue, specOf, statusOf, type VersionSpec, versionsOf } from './definition.js'
import { columnsOf } from './resource/columns.js'
import {
  type CustomVersion,
  customRules,
  customStatusRules,
  pruneStored,
  upgradeStored,
} from './resource/custom-objects.js'
import { scaleRulesOf } from './resource/custom-scale.js'
import { selectedFieldsOf } from './resource/selected-fields.js'

export type { RuleCompiler }

const TRAITS: Traits = {
  listItemsHaveTypeMeta: true,
  sortedKeys: true,
  allowUnconditionalUpdate: false,
  allowCreateOnUpdate: false,
  lenientRouting: true,
  returnsDeletedObject: false,
  hasTerminatingPhase: false,
  strategicMerge: false,
}

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const VERBS_WHILE_TERMINATING = ['delete', 'deletecollection', 'get', 'list', 'watch']

export interface CustomKindOptions {
  /** Converts objects between the versions. */
  readonly convert?: ConvertObjects
  readonly ruleCompiler?: RuleCompiler | undefined
  /** True for group versions of built-in kinds. A definition may have such a version, but it is not served. */
  readonly isBuiltin?: (apiVersion: string) => boolean
}

/** Undefined while the names of the definition are not accepted. */
export function customKind(types: Types, definition: ApiObject, options: CustomKindOptions = {}): Kind | undefined {
  const { convert = renameVersion, ruleCompiler = new RuleCompiler(), isBuiltin = () => false } = options
  if (!isTrue(definition, 'Established') && !isTrue(definition, 'NamesAccepted')) return undefined
  const spec = specOf(definition)
  const { acceptedNames: names } = statusOf(definition)
  const specs = versionsOf(definition).toSorted((a, b) => compareVersions(a.name, b.name))
  const forms = new Map<string, CustomVersion>()
  for (const version of specs) {
    forms.set(`${spec.group}/${version.name}`, formOf(spec, names.kind, version, forms, ruleCompiler))
  }
  const storageVersion = specs.find(({ storage }) => storage)?.name ?? ''
  const convertAll = convertWith(convert, forms, pruned)
  const convertAllUnpruned = convertWith(convert, forms, (_, converted) => converted)
  const best = bestVersion(specs)
  return {
    origin: 'custom',
    group: spec.group,
    names: {
      plural: names.plural,
      singular: names.singular ?? '',
      kind: names.kind,
      listKind: names.listKind ?? '',
      shortNames: names.shortNames ?? [],
      categories: names.categories ?? [],
    },
    namespaced: spec.scope === 'Namespaced',
    versions: specs.map(version => {
      const form = forms.get(`${spec.group}/${version.name}`)!
      const deprecationWarning = deprecationOf(spec, form.kind, version, best)
      return kindVersion(types, spec, version, form, {
        served: version.served && !isBuiltin(form.apiVersion),
        deprecationWarning,
      })
    }),
    storageVersion,
    storedAs: `${spec.group}/${storageVersion}`,
    keyPrefix: `/${spec.group}/${names.plural}/`,
    verbs: isTrue(definition, 'Terminating') ? VERBS_WHILE_TERMINATING : VERBS,
    traits: TRAITS,
    hasExternalConversion: convert !== renameVersion,
    convertAll,
    convert: convertOne(convertAll),
    convertUnpruned: convertOne(convertAllUnpruned),
  }
}

type ConvertAll = NonNullable<Kind['convertAll']>

const convertOne =
  (convertAll: ConvertAll): Kind['convert'] =>
  (object, to, cancellation) =>
    object.apiVersion === to ? object : andThen(convertAll([object], to, cancellation), ([first]) => first!)

/**
 * Converts objects of other versions, and finishes each result by the schema of the new version. Server-side apply also
 * converts partial objects, which may have no metadata and get none; the converter gets empty ones.
 */
function convertWith(
  convert: ConvertObjects,
  forms: ReadonlyMap<string, CustomVersion>,
  finish: (form: CustomVersion | undefined, converted: ApiObject) => ApiObject,
): ConvertAll {
  return (objects, to, cancellation) => {
    const others = objects.filter(({ apiVersion }) => apiVersion !== to)
    if (others.length === 0) return objects
    for (const { apiVersion } of others) {
      if (forms.has(apiVersion)) continue
      throw internalError(`request to convert CR from an invalid group/version: ${apiVersion}`)
    }
    const form = forms.get(to)
    return andThen(convert(others.map(withMetadata), to, cancellation), converted => {
      const made = converted.values()
      return objects.map(object => {
        if (object.apiVersion === to) return object
        const whole = finish(form, made.next().value!)
        return hasMetadata(object) ? whole : withoutMetadata(whole)
      })
    })
  }
}

const hasMetadata = (object: ApiObject): boolean => Object.hasOwn(object, 'metadata')

const withMetadata = (object: ApiObject): ApiObject => (hasMetadata(object) ? object : { ...object, metadata: {} })

function withoutMetadata(object: ApiObject): ApiObject {
  const { metadata: _, ...rest } = object
  return rest as ApiObject
}

const pruned = (form: CustomVersion | undefined, converted: ApiObject): ApiObject =>
  form ? pruneStored(form, copyValue(converted as ValueObject) as ApiObject) : converted

function formOf(
  spec: DefinitionSpec,
  kind: string,
  version: VersionSpec,
  siblings: ReadonlyMap<string, CustomVersion>,
  ruleCompiler: RuleCompiler,
): CustomVersion {
  const schema = schemaOf(version, ruleCompiler)
  return {
    apiVersion: `${spec.group}/${version.name}`,
    version: version.name,
    kind,
    namespaced: spec.scope === 'Namespaced',
    schema: spec.preserveUnknownFields ? validatingOnly(schema) : schema,
    hasStatus: version.subresources?.status !== undefined,
    scale: version.subresources?.scale,
    siblings,
  }
}

/** A version without a schema keeps everything. */
const schemaOf = ({ schema }: VersionSpec, ruleCompiler: RuleCompiler): CompiledSchema =>
  compileSchema(
    () => schema?.openAPIV3Schema ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    ruleCompiler,
  )

/** What the objects of a version are, as their schema says. */
function typeOf(
  types: Types,
  { preserveUnknownFields }: DefinitionSpec,
  { schema }: VersionSpec,
  compiled: CompiledSchema,
): Type {
  return structuralType(types, {
    schema() {
      const written = schema?.openAPIV3Schema ?? undefined
      // Of definitions that keep unknown fields, the schema need not be structural. Merging then goes by the values.
      const isStructural = written && (!preserveUnknownFields || structuralErrors(written, '').length === 0)
      return isStructural ? compiled.schema : undefined
    },
    // A schema does not describe objects that may hold more than it says.
    written: () => (preserveUnknownFields ? undefined : (schema?.openAPIV3Schema ?? undefined)),
    get writtenBytes() {
      return preserveUnknownFields ? undefined : schema?.written
    },
    preserveUnknownFields,
  })
}

/** With preserveUnknownFields, a schema only validates; it changes nothing. */
const validatingOnly = (schema: CompiledSchema): CompiledSchema => ({
  get schema() {
    return schema.schema
  },
  validate: schema.validate,
  validateUpdate: schema.validateUpdate,
  validateStatusUpdate: schema.validateStatusUpdate,
  shape: () => ({ changed: false, unknown: [] }),
  default: () => {},
  // Rules rely on structural schemas, which these need not be.
  evaluateRules: () => NO_FINDINGS,
})

function kindVersion(
  types: Types,
  spec: DefinitionSpec,
  version: VersionSpec,
  form: CustomVersion,
  { served, deprecationWarning }: Pick<KindVersion, 'served' | 'deprecationWarning'>,
): KindVersion {
  const fields = selectedFieldsOf(version, form.namespaced)
  let columns: ReturnType<typeof columnsOf> | undefined
  const getColumns = () => (columns ??= columnsOf(version.additionalPrinterColumns))
  return {
    name: version.name,
    type: typeOf(types, spec, version, form.schema),
    served,
    deprecationWarning,
    strategy: customRules(form),
    subresources: {
      ...(form.hasStatus && { status: customStatusRules(form) }),
      ...(form.scale && { scale: scaleRulesOf(form.scale) }),
    },
    get columns() {
      return getColumns().columns
    },
    tableRow: (object, now) => getColumns().cells(object, now),
    supportField: fields.support,
    fields: fields.values,
    upgradeStored: (object, isMetaDecoded) => upgradeStored(form, object, isMetaDecoded),
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath),
  }
}

/** The first version that is served and not deprecated, of versions in the order of their priority. */
const bestVersion = (versions: readonly VersionSpec[]): VersionSpec | undefined =>
  versions.find(({ served, deprecated }) => served && !deprecated)

/** Recommends the best version if its priority is higher. */
function deprecationOf(
  spec: DefinitionSpec,
  kind: string,
  version: VersionSpec,
  best: VersionSpec | undefined,
): string | undefined {
  if (!version.deprecated) return undefined
  if (version.deprecationWarning !== undefined) return version.deprecationWarning
  const warning = `${spec.group}/${version.name} ${kind} is deprecated`
  const isBetter = best !== undefined && compareVersions(best.name, version.name) < 0
  return isBetter ? `${warning}; use ${spec.group}/${best.name} ${kind}` : warning
}
