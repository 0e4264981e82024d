package dev.binnacle.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

@WithBinnacle
class ServerTest {
  private static ConfigMap configMap(String name) {
    return new ConfigMapBuilder().withNewMetadata().withName(name).withNamespace("default").endMetadata().build();
  }

  @Test
  void eachTestBeginsAnew(KubernetesClient client) {
    assertNull(client.configMaps().inNamespace("default").withName("a").get());
  }

  @Test
  void faultsMeetTheRequestsThatMatch(KubernetesClient client, BinnacleServer server) {
    server.injectFault(Map.of("verb", "create", "resource", "configmaps", "status", 409, "times", 1));
    var conflict = assertThrows(KubernetesClientException.class, () -> client.resource(configMap("b")).create());
    assertEquals(409, conflict.getCode());
    client.resource(configMap("b")).create();
    assertEquals(1, server.faultReport().size());
  }

  @Test
  void theOfficialClientIsInjectedToo(ApiClient client) throws Exception {
    var namespaces = new CoreV1Api(client).listNamespace().execute().getItems();
    assertTrue(namespaces.stream().anyMatch(namespace -> "default".equals(namespace.getMetadata().getName())));
  }

  @Test
  void copiesAreIndependent(BinnacleServer server) {
    Map<String, Object> body = Map.of("metadata", Map.of("name", "only-in-copy"));
    String path = "/api/v1/namespaces/default/configmaps";
    try (BinnacleServer copy = server.fork()) {
      assertEquals(201, copy.request("POST", path, body).statusCode());
      assertEquals(404, server.request("GET", path + "/only-in-copy", null).statusCode());
      copy.injectFault(Map.of("verb", "list", "status", 503));
      assertEquals(503, copy.request("GET", path, null).statusCode());
      assertEquals(200, server.request("GET", path, null).statusCode());
    }
    assertTrue(server.report().contains("POST /binnacle/testing/forks"));
  }

  @Test
  void aUserHasThePermissionsOfItsGroups(BinnacleServer server) {
    String kubeconfig = server.createUser("jane", "devs");
    try (KubernetesClient jane = new KubernetesClientBuilder().withConfig(Config.fromKubeconfig(kubeconfig)).build()) {
      var refused = assertThrows(KubernetesClientException.class, () -> jane.configMaps().inAnyNamespace().list());
      assertEquals(403, refused.getCode());
    }
  }

  @Test
  void theClockMoves(BinnacleServer server) throws Exception {
    server.advanceClock(Duration.ofHours(2));
    server.freezeClock();
    server.moveClockTo(Instant.parse("2100-01-01T00:00:00Z"));
    server.runClock(60);
    assertTrue(server.requests().toString().contains("/binnacle/testing/clock"));
  }

  @Test
  void aWrongFlagSaysWhy() {
    var refused = assertThrows(IllegalStateException.class, () -> BinnacleServer.start("--secure-prot=1"));
    assertTrue(refused.getMessage().contains("there is no flag --secure-prot"), refused.getMessage());
  }
}
