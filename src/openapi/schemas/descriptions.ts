// Descriptions of built-in types and fields in OpenAPI documents, which `kubectl explain` shows. Texts of meta types and
// of fields that all objects have begin like Kubernetes' own, because clients and tests look for them.
import { metaTexts, sharedTexts, type Texts, textsOfType } from '../../types/descriptions.js'
import { bareName } from '../../types/type.js'

export function describeType(type: string): string | undefined {
  const name = bareName(type)
  const given = textsOfType(type)[''] ?? metaTexts()[name]?.['']
  if (given !== undefined) return given
  if (name.endsWith('List') && name !== 'List') return `${name} is a list of ${itemOf(name)} objects.`
  const part = PARTS.find(([suffix]) => name.endsWith(suffix) && name !== suffix)
  return part === undefined ? undefined : `${part[1]} ${name.slice(0, -part[0].length)}.`
}

export function describeField(type: string, field: string): string | undefined {
  const name = bareName(type)
  const own = textsOfType(type)[field]
  if (own !== undefined) return own
  if (name.endsWith('List')) return describeListField(name, field)
  if (name.endsWith('Condition')) return sharedTexts('*Condition')[field] ?? sharedTexts('')[field]
  // A reference has the kind of another object.
  return (name.endsWith('Reference') ? undefined : OF_OBJECTS[field]) ?? sharedTexts('')[field]
}

/** The items of a list: `List of services`. */
export const describeItems = (plural: string): string => `List of ${plural}`

/** Types that are described by their names. */
const PARTS = [
  ['Spec', 'Desired state of a'],
  ['Status', 'Observed state of a'],
  ['Condition', 'One observation of the state of a'],
] as const

// ---- lists, and fields of all objects

const itemOf = (listKind: string): string => listKind.slice(0, -'List'.length)

function describeListField(listKind: string, field: string): string | undefined {
  if (field === 'metadata') return DESCRIPTIONS.listMetadata
  return field === 'items' ? describeItems(pluralOf(itemOf(listKind).toLowerCase())) : OF_OBJECTS[field]
}

function pluralOf(word: string): string {
  if (/(s|x|ch)$/.test(word)) return word === 'endpoints' ? word : `${word}es`
  return /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`
}

const CONVENTIONS = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md'

export const DESCRIPTIONS = {
  apiVersion:
    'APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized ' +
    'schemas to the latest internal value, and may reject unrecognized values. ' +
    `More info: ${CONVENTIONS}#resources`,
  kind:
    'Kind is a string value representing the REST resource this object represents. Servers may infer this from the ' +
    `endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${CONVENTIONS}#types-kinds`,
  metadata: `Standard object's metadata. More info: ${CONVENTIONS}#metadata`,
  listMetadata: `Standard list metadata. More info: ${CONVENTIONS}#types-kinds`,
} as const

const OF_OBJECTS: Texts = {
  apiVersion: DESCRIPTIONS.apiVersion,
  kind: DESCRIPTIONS.kind,
  metadata: DESCRIPTIONS.metadata,
}
