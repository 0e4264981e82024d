// What other rooms need to know of pods.
export * from './validation/container-resources.js'
