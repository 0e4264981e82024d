// Which objects of a collection a request means, answered from what is kept beside each entry.
import type { KindVersion } from '../kinds/kind.js'
import { type FieldSelector, matchesFields, requiredField, supportedFields } from '../meta/field-selectors.js'
import { type LabelSelector, matchesLabels, selectsEverything } from '../meta/label-selectors.js'
import { badRequest } from '../meta/status.js'
import type { KindEntry } from './kind-store.js'

export interface Selection {
  /** True when it leaves nothing out. */
  readonly everything: boolean
  /** Set when only an object of this name can match. */
  readonly name: string | undefined
  /** A field that must have one value, so that a watch can be told of few objects only. */
  readonly term: { readonly field: string; readonly value: string } | undefined
  matches(entry: KindEntry): boolean
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
  return {
    everything,
    name: requiredField(fields, 'metadata.name'),
    term: fields.find(({ operator }) => operator === '='),
    matches({ facts: { data } }) {
      return everything || (matchesLabels(labelSelector, data.labels) && matchesFields(fields, data.fields))
    },
  }
}
