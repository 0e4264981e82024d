// The label and field selector of a request, matched against the attributes of entries.

import type { KindVersion, VersionedKind } from '../kinds/kind.js'
import { apiVersionOf } from '../kinds/kind-names.js'
import { badRequest } from '../meta/errors/status.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import {
  type FieldRequirement,
  type FieldSelector,
  matchesFields,
  requiredField,
  supportedFields,
} from '../meta/selectors/field-selectors.js'
import {
  type LabelRequirement,
  type LabelSelector,
  matchesLabels,
  selectsEverything,
} from '../meta/selectors/label-selectors.js'
import type { AttributeTerm } from '../storage/watch-cache.js'
import { type ObjectEntry, selectableFields } from './object-attributes.js'

export interface Selection {
  /** There is no selector. */
  readonly everything: boolean
  /** Equal for selections of one version that select the same by the same requirements. */
  readonly text: string
  /** The name that the selector requires. */
  readonly name: string | undefined
  /** What an index can answer for objects of a kind: requirements of certain values. None where it would be wrong. */
  terms(versioned: VersionedKind): readonly AttributeTerm[]
  /** An entry that has all terms is selected. */
  readonly isAllTerms: boolean
  /** For an entry that is stored in the version of the request. */
  matches(entry: ObjectEntry): boolean
  /** For an entry in any version: false if its name or namespace, which conversion does not change, excludes it. */
  mayMatch(entry: ObjectEntry): boolean
  /** For an object in the version of the request. */
  matchesObject(object: ApiObject): boolean
}

interface Selectors {
  readonly labelSelector: LabelSelector
  readonly fieldSelector: FieldSelector
}

/** Throws for fields that are not selectable in this version. */
export function selectionOf(version: KindVersion, { labelSelector, fieldSelector }: Selectors): Selection {
  const supported = supportedFields(fieldSelector, version.supportField)
  if (!supported.ok) throw badRequest(supported.error)
  const fields = supported.value
  const everything = selectsEverything(labelSelector) && fields.length === 0
  const places = fields.filter(({ field }) => field === 'metadata.name' || field === 'metadata.namespace')
  const labelTerms = labelSelector === 'nothing' ? [] : labelSelector.flatMap(labelTerm)
  const fieldTerms = fields.flatMap(fieldTerm)
  let text: string | undefined
  return {
    everything,
    get text() {
      return (text ??= everything ? '' : JSON.stringify([labelSelector, fields]))
    },
    name: requiredField(fields, 'metadata.name'),
    terms: versioned => [
      ...(labelsAreIndexed(versioned) ? labelTerms : []),
      ...(fieldsAreIndexed(versioned) ? fieldTerms : []),
    ],
    isAllTerms:
      labelSelector !== 'nothing' && labelTerms.length + fieldTerms.length === labelSelector.length + fields.length,
    matches({ attributes: { data } }) {
      return everything || (matchesLabels(labelSelector, data.labels) && matchesFields(fields, data.fields))
    },
    mayMatch: ({ attributes: { data } }) => places.length === 0 || matchesFields(places, data.fields),
    matchesObject: object =>
      everything ||
      (matchesLabels(labelSelector, metaOf(object).labels ?? {}) &&
        matchesFields(fields, selectableFields(version, object))),
  }
}

function labelTerm({ key, operator, values }: LabelRequirement): AttributeTerm[] {
  const isOneOf = operator === '=' || operator === '==' || operator === 'in'
  if (!isOneOf && operator !== 'exists') return []
  return [{ source: 'labels', name: key, values: isOneOf ? values : undefined }]
}

const fieldTerm = ({ field, operator, value }: FieldRequirement): AttributeTerm[] =>
  operator === '=' ? [{ source: 'indexedFields', name: field, values: [value] }] : []

/** A webhook that converts an object may change its labels. */
const labelsAreIndexed = ({ kind }: VersionedKind): boolean => kind.versions.length === 1 || !kind.hasExternalConversion

/** Fields are indexed as they are in the storage version. */
const fieldsAreIndexed = (versioned: VersionedKind): boolean =>
  labelsAreIndexed(versioned) && apiVersionOf(versioned.kind, versioned.version.name) === versioned.kind.storedAs
