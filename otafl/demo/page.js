// What the browser does on its own: the address, the clipboard, pictures as files, a large picture.
window.otafl = {
  setAddress(query) {
    history.replaceState(null, "", "?" + query);
  },

  async copy(text, button) {
    const label = button.tags[0] ?? button.label;
    button.tags = [label];  // for another click before the label has returned
    try {
      await navigator.clipboard.writeText(text);
    } catch {  // without https the clipboard is closed, but a selection can be copied
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    button.label = "Copied";
    setTimeout(() => { button.label = label; }, 1500);
  },

  download(card) {
    const model = Bokeh.documents[0].get_model_by_name(card.dataset.picture);
    const drawn = Bokeh.index.get_by_id(model.id).export("png").canvas;
    const image = document.createElement("canvas");
    image.width = drawn.width;
    image.height = drawn.height;
    const context = image.getContext("2d");
    context.fillStyle = "white";
    context.fillRect(0, 0, image.width, image.height);
    context.drawImage(drawn, 0, 0);
    const link = document.createElement("a");
    link.download = `otafl-${card.dataset.picture}.png`;
    link.href = image.toDataURL("image/png");
    link.click();
  },

  enlarge(card) {
    const large = card.classList.toggle("large");
    card.querySelector(".enlarge").textContent = large ? "✕" : "⤢";
    card.closest("main").scrollTop = 0;
  },
};

document.addEventListener("click", (event) => {
  const card = event.target.closest(".card");
  if (event.target.matches("button.png")) otafl.download(card);
  if (event.target.matches("button.enlarge")) otafl.enlarge(card);
});

document.addEventListener("keydown", (event) => {
  const large = document.querySelector(".card.large");
  if (event.key === "Escape" && large) otafl.enlarge(large);
});
