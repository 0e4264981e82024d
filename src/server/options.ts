// Options of a server, a file a concern: their types, their flags, and the checks that the command line and the library
// share.
export * from './options/admission.js'
export * from './options/api.js'
export * from './options/authentication.js'
export * from './options/authorization.js'
export * from './options/flag.js'
export * from './options/flag-values.js'
export * from './options/kube-flags.js'
export * from './options/limits.js'
export * from './options/logging.js'
export * from './options/server-options.js'
export * from './options/serving.js'
export * from './options/storage.js'
