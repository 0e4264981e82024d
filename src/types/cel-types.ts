// Types and values of the API as CEL expressions see them.
export * from './cel/declared-types.js'
export * from './cel/dynamic-json.js'
export * from './cel/field-names.js'
export * from './cel/json-layout.js'
export * from './cel/list-map-key.js'
export * from './cel/values.js'
