// A definition as it is validated. A part that is equal in all versions is validated once, for the definition as a
// whole, and not for each version. Schemas, subresources, columns and selectable fields are compared separately.
import { asStruct, type Printed } from '../../meta/errors/field-errors.js'
import { equalValues, type Value, type ValueObject } from '../../meta/values/value.js'
import { describeInGo } from '../../schema/check-schema.js'
import type { VersionSpec } from '../definition.js'

type PartName = 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields'

/** The parts of a version, or those that all versions share. */
export type Parts = Pick<VersionSpec, PartName>

export interface SharedParts {
  readonly shared: Parts
  /** What is left for each version, in their order. */
  readonly own: readonly Parts[]
}

const PARTS: readonly PartName[] = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields']

export function sharedParts(versions: readonly VersionSpec[]): SharedParts {
  const isShared = (name: PartName): boolean => versions.every(each => isSame(each[name], versions[0]![name]))
  const sharedNames = PARTS.filter(isShared)
  const ownNames = PARTS.filter(name => !sharedNames.includes(name))
  return {
    shared: versions.length === 0 ? {} : pick(versions[0]!, sharedNames),
    own: versions.map(version => pick(version, ownNames)),
  }
}

const pick = (version: VersionSpec, names: readonly PartName[]): Parts =>
  Object.fromEntries(names.flatMap(name => (version[name] === undefined ? [] : [[name, version[name]]])))

/** An empty list is as good as none. */
const isSame = (a: VersionSpec[PartName], b: VersionSpec[PartName]): boolean =>
  equalValues(emptied(a) as Value | undefined, emptied(b) as Value | undefined)

const emptied = (part: VersionSpec[PartName]): unknown => (Array.isArray(part) && part.length === 0 ? undefined : part)

/** The versions as Go prints them when something is wrong with them as a whole. */
export function describeVersions(versions: readonly VersionSpec[], { own }: SharedParts): Printed {
  return asStruct(versions.map((version, i) => describeVersion(version, own[i]!)))
}

function describeVersion(version: VersionSpec, parts: Parts): ValueObject {
  const { schema, subresources, additionalPrinterColumns, selectableFields } = parts
  return {
    Name: version.name,
    Served: version.served,
    Storage: version.storage,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: schema ? { OpenAPIV3Schema: schema.openAPIV3Schema ? describeInGo(schema.openAPIV3Schema) : null } : null,
    Subresources: subresources
      ? {
          Status: subresources.status ? {} : null,
          Scale: subresources.scale
            ? {
                SpecReplicasPath: subresources.scale.specReplicasPath,
                StatusReplicasPath: subresources.scale.statusReplicasPath,
                LabelSelectorPath: subresources.scale.labelSelectorPath ?? null,
              }
            : null,
        }
      : null,
    AdditionalPrinterColumns:
      additionalPrinterColumns?.map(({ name, type, format = '', description = '', priority = 0, jsonPath }) => ({
        Name: name,
        Type: type,
        Format: format,
        Description: description,
        Priority: priority,
        JSONPath: jsonPath,
      })) ?? null,
    SelectableFields: selectableFields?.map(({ jsonPath }) => ({ JSONPath: jsonPath })) ?? null,
  }
}
