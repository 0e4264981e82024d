// What other rooms use of pods: amounts of resources, binding and eviction.
export * from './core/pod/binding.js'
export * from './core/pod/container-resources.js'
export * from './core/pod/eviction.js'
