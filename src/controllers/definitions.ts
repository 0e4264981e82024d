// The controller of CustomResourceDefinitions.
export * from './crd/controller.js'
export * from './crd/current-definition.js'
export * from './crd/names-lock.js'
export * from './crd/wait-established.js'
