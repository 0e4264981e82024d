// The controller of CustomResourceDefinitions.
export * from './crd/controller.js'
export * from './crd/wait-established.js'
