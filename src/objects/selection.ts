// The label and field selector of a request, matched against the attributes of entries.

import type { KindVersion } from '../kinds/kind.js'
import { badRequest } from '../meta/errors/status.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import { type FieldSelector, matchesFields, requiredField, supportedFields } from '../meta/selectors/field-selectors.js'
import { type LabelSelector, matchesLabels, selectsEverything } from '../meta/selectors/label-selectors.js'
import { type ObjectEntry, selectableFields } from './object-attributes.js'

export interface Selection {
  /** There is no selector. */
  readonly everything: boolean
  /** The name that the selector requires. */
  readonly name: string | undefined
  /** A field for which the selector requires a value, by which a watch can use the event index. */
  readonly term: { readonly field: string; readonly value: string } | undefined
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
  return {
    everything,
    name: requiredField(fields, 'metadata.name'),
    term: fields.find(({ operator }) => operator === '='),
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
