// Which objects of a collection a request means, answered from what is kept beside each entry.

import type { KindVersion } from '../kinds/kind.js'
import { badRequest } from '../meta/errors/status.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import { type FieldSelector, matchesFields, requiredField, supportedFields } from '../meta/selectors/field-selectors.js'
import { type LabelSelector, matchesLabels, selectsEverything } from '../meta/selectors/label-selectors.js'
import { type ObjectEntry, selectableFields } from './object-attributes.js'

export interface Selection {
  /** True when it leaves nothing out. */
  readonly everything: boolean
  /** Set when only an object of this name can match. */
  readonly name: string | undefined
  /** A field that must have one value, so that a watch can be told of few objects only. */
  readonly term: { readonly field: string; readonly value: string } | undefined
  /** Of an entry that is stored in the version of the request. */
  matches(entry: ObjectEntry): boolean
  /** False for an entry in any version that cannot match: nothing changes where an object is. */
  mayMatch(entry: ObjectEntry): boolean
  /** Of an object in the version of the request. */
  matchesObject(object: ApiObject): boolean
}

interface Selectors {
  readonly labelSelector: LabelSelector
  readonly fieldSelector: FieldSelector
}

/** Refuses fields that the version cannot be selected by. */
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
