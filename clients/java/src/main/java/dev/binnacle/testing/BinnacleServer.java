package dev.binnacle.testing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A running server, or a copy of one. Faults, the clock, resets and copies go over its testing API. */
public final class BinnacleServer implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String TESTING = "/binnacle/testing";

  /** Stops the process, or the copy. */
  private final Runnable stop;
  private final String url;
  private final String kubeconfig;
  private final String token;
  private final HttpClient http;

  private BinnacleServer(Runnable stop, String url, String kubeconfig, HttpClient http) {
    this.stop = stop;
    this.url = url;
    this.kubeconfig = kubeconfig;
    this.token = field(kubeconfig, "token");
    this.http = http;
  }

  /**
   * Starts a server with further flags of {@code binnacle serve}. The executable is the one that the environment variable
   * {@code BINNACLE} names, or {@code binnacle} in the {@code PATH}.
   */
  public static BinnacleServer start(String... flags) {
    BinnacleProcess process = BinnacleProcess.start(List.of(flags));
    String kubeconfig = process.kubeconfig();
    return new BinnacleServer(process::close, process.url, kubeconfig, httpClient(kubeconfig));
  }

  public String url() {
    return url;
  }

  /** The bearer token of the administrator. */
  public String token() {
    return token;
  }

  /** A kubeconfig, as text, with which the administrator has access. */
  public String kubeconfig() {
    return kubeconfig;
  }

  /** {@code injectFault(Map.of("verb", "update", "resource", "widgets", "status", 409, "times", 1))} */
  public void injectFault(Map<String, ?> fault) {
    testing("POST", "/faults", fault);
  }

  public void clearFaults() {
    testing("DELETE", "/faults", null);
  }

  /** What was injected into which request. */
  public JsonNode faultReport() {
    return testing("GET", "/faults", null).get("report");
  }

  /** A mixture of faults that is the same for the same seed and the same requests. */
  public void chaos(long seed) {
    testing("POST", "/chaos", Map.of("seed", seed));
  }

  public void advanceClock(Duration by) {
    testing("POST", "/clock", Map.of("advance", by.toMillis()));
  }

  public void moveClockTo(Instant time) {
    testing("POST", "/clock", Map.of("moveTo", time.toString()));
  }

  public void freezeClock() {
    testing("POST", "/clock", Map.of("freeze", true));
  }

  /** Lets the time run, {@code scale} times as fast as usual. */
  public void runClock(double scale) {
    testing("POST", "/clock", Map.of("run", scale));
  }

  /** A user without permissions beyond those of the groups; answers its kubeconfig, as text. */
  public String createUser(String name, String... groups) {
    return testing("POST", "/users", Map.of("name", name, "groups", List.of(groups))).get("kubeconfig").asText();
  }

  public void snapshot(String name) {
    testing("POST", "/snapshots", Map.of("name", name));
  }

  /** Goes back to the state after the start. */
  public void reset() {
    testing("POST", "/reset", Map.of());
  }

  /** Goes back to a snapshot. */
  public void reset(String snapshot) {
    testing("POST", "/reset", Map.of("name", snapshot));
  }

  /** Every old resourceVersion is answered 410 from now on. */
  public void compactHistory() {
    testing("POST", "/history/compact", null);
  }

  /** The requests that the server was sent. */
  public JsonNode requests() {
    return testing("GET", "/requests", null).get("requests");
  }

  /** {@link #report} is about what happens from now on. */
  public void record() {
    testing("POST", "/recording", null);
  }

  /** The last requests and the objects that changed, as text. */
  public String report() {
    return testing("GET", "/recording", null).get("report").asText();
  }

  /** An independent copy with the same objects. It ends with {@link #close}, or with the server. */
  public BinnacleServer fork() {
    JsonNode copy = testing("POST", "/forks", null);
    String id = copy.get("id").asText();
    Runnable stopCopy = () -> testing("DELETE", "/forks/" + id, null);
    return new BinnacleServer(stopCopy, copy.get("url").asText(), copy.get("kubeconfig").asText(), http);
  }

  /** Sends a request as the administrator. */
  public HttpResponse<String> request(String method, String path, Object body) {
    try {
      HttpRequest request = HttpRequest.newBuilder(URI.create(url + path))
          .header("Authorization", "Bearer " + token)
          .header("Content-Type", "application/json")
          .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(JSON.writeValueAsString(body)))
          .build();
      return http.send(request, BodyHandlers.ofString());
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(error);
    }
  }

  /** Stops the server and its copies, or the copy. */
  @Override
  public void close() {
    stop.run();
  }

  private JsonNode testing(String method, String path, Object body) {
    HttpResponse<String> response = request(method, TESTING + path, body);
    try {
      JsonNode answer = JSON.readTree(response.body());
      if (response.statusCode() == 200) {
        return answer;
      }
      throw new IllegalArgumentException(answer.path("message").asText(response.body()));
    } catch (JsonProcessingException error) {
      throw new UncheckedIOException(error);
    }
  }

  private static HttpClient httpClient(String kubeconfig) {
    try {
      byte[] pem = Base64.getDecoder().decode(field(kubeconfig, "certificate-authority-data"));
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      trusted.setCertificateEntry(
          "ca", CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(pem)));
      TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      managers.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, managers.getTrustManagers(), null);
      return HttpClient.newBuilder().sslContext(context).build();
    } catch (GeneralSecurityException | IOException error) {
      throw new IllegalStateException(error);
    }
  }

  private static String field(String kubeconfig, String name) {
    Matcher found = Pattern.compile("(?m)^\\s*" + name + ":\\s*\"?([^\\s\"]+)").matcher(kubeconfig);
    if (!found.find()) {
      throw new IllegalStateException("the kubeconfig has no " + name);
    }
    return found.group(1);
  }
}
