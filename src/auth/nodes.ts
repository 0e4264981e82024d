// Nodes as users, and what they may do.
export * from './node/node-authorizer.js'
export * from './node/node-identity.js'
export * from './node/pod-references.js'
export * from './node/stored-nodes.js'
