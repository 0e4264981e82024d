// The definitions among documents, as the server would store them, and the nodes of their schemas with their positions.
export * from './definitions/accepted-definitions.js'
export * from './definitions/old-definition.js'
export * from './definitions/schema-nodes.js'
