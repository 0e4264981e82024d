// The admission plugins.

export * from './plugins/namespace-lifecycle.js'
export * from './plugins/workload-admission.js'
